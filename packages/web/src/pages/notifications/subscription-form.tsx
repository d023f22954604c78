import { SegmentedControl } from '@mantine/core';
import { NOTICE_TYPES, type NoticeType, type Subscription } from '@rollcall/shared/api/deliveries';
import { useSend } from '../../action.ts';
import type { Request } from '../../api.ts';
import type { FormOf } from '../../components/collection.tsx';
import {
  ChecksField,
  ChoiceField,
  FormDialog,
  LinesField,
  SwitchField,
  TextField,
  useFields,
} from '../../components/form.tsx';
import { SEVERITIES } from '../../components/mark.tsx';
import { SiteFields, sitesOf } from '../../components/site-fields.tsx';
import { wordsOf } from '../../search.ts';
import { useMe } from '../../session.tsx';

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

export interface Made {
  name: string;
  secret: string;
}

/** A webhook or people by e-mail; the secret of a new webhook is handed on to be shown, once. */
export function SubscriptionForm({
  one,
  onClose,
  onSecret,
}: FormOf<Subscription> & { onSecret: (made: Made) => void }) {
  const { user } = useMe();
  const send = useSend();
  const { values, set, text, flag, list } = useFields({
    kind: one?.kind ?? 'webhook',
    name: one?.name ?? '',
    url: one?.url ?? '',
    allowPrivate: one?.allowPrivate ?? false,
    addresses: one?.addresses.join('\n') ?? '',
    types: (one?.types ?? ['case.opened', 'case.reopened', 'case.resolved']) as string[],
    severity: String(one?.severity ?? 5),
    allSites: one?.allSites ?? user.allSites,
    siteIds: one?.siteIds ?? [],
  });
  const { kind, name, url, allowPrivate, types, allSites, siteIds } = values;
  const save = async () => {
    const common = {
      name,
      types: types as NoticeType[],
      severity: Number(values.severity),
      ...sitesOf(values),
    };
    const target = kind === 'webhook' ? { url, allowPrivate } : { addresses: wordsOf(values.addresses) };
    if (one) return send('subscriptions.update', { params: { id: one.id }, body: { ...common, ...target } });
    const body = { kind, ...common, ...target } as Request<'subscriptions.create'>['body'];
    const { secret } = await send('subscriptions.create', { body });
    if (secret) onSecret({ name, secret });
  };
  return (
    <FormDialog
      title={one ? `Subscription ${one.name}` : 'New subscription'}
      onClose={onClose}
      onSubmit={save}
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
          onChange={(value) => set({ kind: value as Subscription['kind'] })}
        />
      )}
      <TextField
        label="Name"
        placeholder={kind === 'webhook' ? 'Ticket system' : 'On call'}
        required
        data-autofocus
        {...text('name')}
      />
      {kind === 'webhook' ? (
        <>
          <TextField
            label="Address"
            description="Each case is sent there as JSON by POST, signed (Standard Webhooks)"
            placeholder="https://tickets.example.net/hooks/rollcall"
            required
            {...text('url')}
          />
          {(user.allSites || allowPrivate) && (
            <SwitchField
              label="It may be a private address (10.x, 192.168.x, this host)"
              {...flag('allowPrivate')}
            />
          )}
        </>
      ) : (
        <LinesField
          label="Addresses"
          description="One a line; sent through the mail server of the third tab"
          placeholder="noc@example.net"
          required
          {...text('addresses')}
        />
      )}
      <ChecksField label="When a case" choices={TYPE_CHOICES} {...list('types')} />
      <ChoiceField label="Severity" choices={SEVERITY_CHOICES} {...text('severity')} />
      <SiteFields
        all="Of all sites, future ones too"
        some="Of"
        values={values}
        set={set}
        disabled={!user.allSites}
      />
    </FormDialog>
  );
}
