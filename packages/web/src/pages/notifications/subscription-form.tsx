import { Button, SegmentedControl, Switch } from '@mantine/core';
import { NOTICE_TYPES, type NoticeType, type Subscription } from '@rollcall/shared/api/deliveries';
import { useState } from 'react';
import { useRefresh } from '../../action.ts';
import { call } from '../../api.ts';
import { CopyField } from '../../components/copy.tsx';
import {
  ChecksField,
  ChoiceField,
  Dialog,
  FormDialog,
  LinesField,
  TextField,
} from '../../components/form.tsx';
import { SEVERITIES } from '../../components/mark.tsx';
import { useMe } from '../../session.tsx';
import { useSiteChoices } from '../../sites.ts';
import classes from './notifications.module.css';

const TYPES: Record<NoticeType, string> = {
  'case.opened': 'opens',
  'case.changed': 'changes',
  'case.reopened': 'opens again',
  'case.resolved': 'is resolved',
};
const TYPE_CHOICES = NOTICE_TYPES.map((value) => ({ value, label: TYPES[value] }));
const SEVERITY_CHOICES = SEVERITIES.map(({ code, name }) => ({
  value: String(code),
  label: code === 5 ? 'any' : code === 1 ? name : `${name} or worse`,
}));
const addressesOf = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean);

/** A webhook or people by e-mail; the secret of a new webhook is handed on to be shown, once. */
export function SubscriptionForm({
  subscription: one,
  onClose,
  onSecret,
}: {
  subscription?: Subscription;
  onClose: () => void;
  onSecret?: (made: { name: string; secret: string }) => void;
}) {
  const { user } = useMe();
  const sites = useSiteChoices();
  const refresh = useRefresh();
  const [kind, setKind] = useState(one?.kind ?? 'webhook');
  const [name, setName] = useState(one?.name ?? '');
  const [url, setUrl] = useState(one?.url ?? '');
  const [allowPrivate, setAllowPrivate] = useState(one?.allowPrivate ?? false);
  const [addresses, setAddresses] = useState(one?.addresses.join('\n') ?? '');
  const [types, setTypes] = useState<string[]>(
    one?.types ?? ['case.opened', 'case.reopened', 'case.resolved'],
  );
  const [severity, setSeverity] = useState(String(one?.severity ?? 5));
  const [allSites, setAllSites] = useState(one?.allSites ?? user.allSites);
  const [siteIds, setSiteIds] = useState(one?.siteIds ?? []);
  const save = async () => {
    const common = {
      name,
      types: types as NoticeType[],
      severity: Number(severity),
      allSites,
      siteIds: allSites ? [] : siteIds,
    };
    const target = kind === 'webhook' ? { url, allowPrivate } : { addresses: addressesOf(addresses) };
    if (one) await call('subscriptions.update', { params: { id: one.id }, body: { ...common, ...target } });
    else {
      const body = { kind, ...common, ...target } as Parameters<
        typeof call<'subscriptions.create'>
      >[1]['body'];
      const { secret } = await call('subscriptions.create', { body });
      if (secret) onSecret?.({ name, secret });
    }
    refresh('subscriptions');
  };
  return (
    <FormDialog
      title={one ? `Subscription ${one.name}` : 'New subscription'}
      opened
      onClose={onClose}
      onSubmit={save}
      submit="Save"
      ready={types.length > 0 && (allSites || siteIds.length > 0)}
      size={560}
    >
      {!one && (
        <SegmentedControl
          aria-label="How"
          data={[
            { value: 'webhook', label: 'Webhook' },
            { value: 'email', label: 'E-mail' },
          ]}
          value={kind}
          onChange={(value) => setKind(value as Subscription['kind'])}
        />
      )}
      <TextField
        path="name"
        label="Name"
        placeholder={kind === 'webhook' ? 'Ticket system' : 'On call'}
        required
        value={name}
        onChange={setName}
        data-autofocus
      />
      {kind === 'webhook' ? (
        <>
          <TextField
            path="url"
            label="Address"
            description="Each case is sent there as JSON by POST, signed (Standard Webhooks)"
            placeholder="https://tickets.example.net/hooks/rollcall"
            required
            value={url}
            onChange={setUrl}
          />
          {(user.allSites || allowPrivate) && (
            <Switch
              label="It may be a private address (10.x, 192.168.x, this host)"
              checked={allowPrivate}
              onChange={(event) => setAllowPrivate(event.currentTarget.checked)}
            />
          )}
        </>
      ) : (
        <LinesField
          path="addresses"
          label="Addresses"
          description="One a line; sent through the mail server of the third tab"
          placeholder="noc@example.net"
          required
          value={addresses}
          onChange={setAddresses}
        />
      )}
      <ChecksField label="When a case" choices={TYPE_CHOICES} value={types} onChange={setTypes} />
      <ChoiceField
        path="severity"
        label="Severity"
        choices={SEVERITY_CHOICES}
        value={severity}
        onChange={setSeverity}
      />
      <Switch
        label="Of all sites, future ones too"
        checked={allSites}
        disabled={!user.allSites}
        onChange={(event) => setAllSites(event.currentTarget.checked)}
      />
      {!allSites && <ChecksField label="Of" choices={sites} value={siteIds} onChange={setSiteIds} />}
    </FormDialog>
  );
}

/** What a webhook's signatures are checked with. */
export function SecretDialog({
  name,
  secret,
  onClose,
}: {
  name: string;
  secret: string;
  onClose: () => void;
}) {
  return (
    <Dialog title={`The secret of ${name}`} opened onClose={onClose} size={560}>
      <div className={classes.once}>
        <p>
          Copy it now: it is shown <strong>this once</strong>. The receiver checks signatures with it, by any
          library for Standard Webhooks.
        </p>
        <CopyField text={secret} label="Secret" />
        <Button variant="default" onClick={onClose} className={classes.end}>
          I have it
        </Button>
      </div>
    </Dialog>
  );
}
