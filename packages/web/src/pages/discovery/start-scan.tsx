import { Box, Select, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import type { ScanPlan } from '@rollcall/shared/api/scans';
import { IconAlertTriangle } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call, keyOf } from '../../api.ts';
import { ApiError } from '../../api-error.ts';
import { FormDialog, MONO, Pair } from '../../components/form/index.ts';
import { duration, Fact, Facts, ScanLink, ScanStatus } from '../../components/show/index.ts';
import { count, plural } from '../../format.ts';
import { useSend } from '../../use-action.ts';
import { BY_TARGETS, useProfileChoices, useTargetSites } from './choices.ts';
import classes from './discovery.module.css';

const SETTLE_MS = 350;

/** What to scan, and what that would mean, before it is started. */
export function StartScan({
  targets: given,
  site: givenSite,
  profile: givenProfile,
  onClose,
}: {
  targets: string;
  site: string | undefined;
  profile: string | undefined;
  onClose: () => void;
}) {
  const form = useForm({
    initialValues: { targets: given, site: givenSite ?? BY_TARGETS, profile: givenProfile ?? 'standard' },
  });
  const { targets, site, profile } = form.values;
  /** Sent with the start: a click that is tried again starts nothing twice. */
  const [key] = useState(() => crypto.getRandomValues(new Uint32Array(4)).join('-'));
  const navigate = useNavigate();
  const send = useSend('summary');
  const sites = useTargetSites();
  const profiles = useProfileChoices();
  const body = { targets: targets.trim(), profile, ...(site !== BY_TARGETS && { site }) };
  const [settled] = useDebouncedValue(body, SETTLE_MS);
  const plan = useQuery({
    queryKey: keyOf('scans.plan', { body: settled }),
    queryFn: ({ signal }) => call('scans.plan', { body: settled }, { signal }),
    enabled: settled.targets !== '',
    placeholderData: keepPreviousData,
    retry: false,
  });
  const current = !plan.isPlaceholderData && JSON.stringify(body) === JSON.stringify(settled);
  const ready = body.targets !== '' && current && plan.isSuccess;
  return (
    <FormDialog
      form={form}
      title="Start a scan"
      onClose={onClose}
      size={620}
      submit={
        ready && plan.data ? `Scan ${plural(plan.data.data.addresses, 'address', 'addresses')}` : 'Scan'
      }
      ready={ready}
      onSubmit={async () => {
        const { scanId } = await send('scans.create', { body }, { idempotencyKey: key });
        // After the dialog has taken itself out of the address.
        setTimeout(() => void navigate({ to: '/discovery/scans/$id', params: { id: scanId } }));
      }}
    >
      <Textarea
        label="Targets"
        description="CIDRs, addresses or first-last ranges, IPv4 or IPv6; ! in front excludes"
        placeholder={'10.20.0.0/24\n!10.20.0.13'}
        minRows={3}
        data-autofocus
        styles={MONO}
        {...form.getInputProps('targets')}
      />
      <Pair>
        <Select label="Profile" data={profiles} {...form.getInputProps('profile')} />
        <Select label="Site" data={sites} {...form.getInputProps('site')} />
      </Pair>
      <section className={classes.plan} aria-label="Plan" aria-live="polite">
        {settled.targets === '' ? (
          <p className="quiet">The plan appears here: how many addresses, by whom, how long.</p>
        ) : plan.error && current ? (
          <PlanProblem error={plan.error} />
        ) : (
          plan.data && <Plan plan={plan.data.data} />
        )}
      </section>
    </FormDialog>
  );
}

function PlanProblem({ error }: { error: Error }) {
  const details = error instanceof ApiError ? error.details : [];
  return (
    <Box px={12} py={10} c="var(--bad)">
      {details.length > 0 ? (
        details.map(({ message }) => <p key={message}>{message}</p>)
      ) : (
        <p>{error.message}</p>
      )}
    </Box>
  );
}

function Plan({ plan }: { plan: ScanPlan }) {
  const online = plan.collectors.filter((one) => one.online && one.status === 'active');
  return (
    <>
      <Facts>
        <Fact name="Site">{plan.site}</Fact>
        <Fact name="Addresses">
          {`${count(plan.addresses)}${plan.excluded > 0 ? `, ${count(plan.excluded)} left out` : ''}`}
        </Fact>
        <Fact name="Collectors">
          {online.length > 0
            ? `${online.map((one) => one.name).join(', ')} (${plural(plan.jobs, 'job')})`
            : 'none online: the scan waits until one is'}
        </Fact>
        <Fact name="Rate">
          {plan.packetsPerSecond === null
            ? 'unlimited'
            : `${plural(plan.packetsPerSecond, 'packet')} per second`}
        </Fact>
        <Fact name="At most">{plural(plan.estimatedPackets, 'packet')}</Fact>
        <Fact name="Scan takes">
          {`about ${duration(Math.max(1, plan.estimatedSeconds))} if nothing answers; reading devices takes longer`}
        </Fact>
      </Facts>
      {plan.warnings.map((warning) => (
        <p key={warning} className={classes.warning}>
          <IconAlertTriangle size={14} aria-hidden />
          {warning}
        </p>
      ))}
      {plan.overlaps.map((other) => (
        <p key={other.scanId} className={classes.warning}>
          <IconAlertTriangle size={14} aria-hidden />
          <span>
            {plural(other.addresses, 'address is', 'addresses are')} also in a scan that is not over:{' '}
            <ScanLink id={other.scanId}>{other.targets}</ScanLink>
          </span>
          <ScanStatus status={other.status} />
        </p>
      ))}
    </>
  );
}
