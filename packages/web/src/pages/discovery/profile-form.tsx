import type { Profile } from '@rollcall/shared/api/profiles';
import {
  BUILT_IN_PROFILES,
  FACT_GROUPS,
  type FactGroup,
  type ProfileSettings,
} from '@rollcall/shared/profile';
import { useState } from 'react';
import { useSend } from '../../action.ts';
import type { FormOf } from '../../components/collection.tsx';
import {
  ChecksField,
  ChoiceField,
  FormDialog,
  Group,
  LinesField,
  Pair,
  SwitchField,
  TextField,
  useFields,
} from '../../components/form.tsx';
import { wordsOf } from '../../search.ts';

const STANDARD: ProfileSettings = BUILT_IN_PROFILES.standard;
type Snmp = NonNullable<ProfileSettings['snmp']>;
type Icmp = NonNullable<ProfileSettings['icmp']>;

const GROUPS: Record<FactGroup, string> = {
  interfaces: 'interfaces',
  addresses: 'addresses',
  entities: 'hardware',
  neighbours: 'neighbours',
  arp: 'ARP',
  fdb: 'forwarding',
  vlans: 'VLANs',
  vrfs: 'VRFs',
};

const ICMP_NUMBERS = [
  ['tries', 'Tries'],
  ['timeoutMs', 'Time-out, ms'],
] as const;
const SNMP_NUMBERS = [
  ['tries', 'Tries'],
  ['timeoutMs', 'Time-out, ms'],
  ['perDevice', 'Requests in flight to one device'],
  ['deviceBudgetMs', 'Longest time for one device, ms'],
  ['rows', 'Most rows of one table'],
  ['attempts', 'Failed sign-ins per host and day'],
] as const;

/** What is no number is sent all the same: the server says what is wrong with it. */
const number = (text: string): number => (text.trim() === '' ? Number.NaN : Number(text));
const rate = (text: string): number | 'max' => (text.trim() === 'max' ? 'max' : number(text));

/** All settings of a profile; a new one begins `like` another. */
export function ProfileForm({ one, like, onClose }: FormOf<Profile> & { like: Profile | undefined }) {
  const before = (one ?? like)?.settings ?? STANDARD;
  const [icmp, setIcmp] = useState<Icmp | null>(before.icmp);
  const [snmp, setSnmp] = useState<Snmp | null>(before.snmp);
  const { values, text, flag } = useFields({
    name: one?.name ?? (like ? `${like.name} copy` : ''),
    rate: String(before.rate),
    ratePerNet: String(before.ratePerNet),
    follow: String(before.follow),
    exclude: before.exclude.join('\n'),
    dns: before.dns,
  });
  const send = useSend();
  const save = () => {
    const { name, dns } = values;
    const settings = {
      icmp,
      snmp,
      rate: rate(values.rate),
      ratePerNet: rate(values.ratePerNet),
      dns,
      follow: number(values.follow),
      exclude: wordsOf(values.exclude),
    };
    return one
      ? send('profiles.update', { params: { id: one.id }, body: { name, settings } })
      : send('profiles.create', { body: { name, settings } });
  };
  return (
    <FormDialog
      title={one ? `Profile ${one.name}` : 'New profile'}
      onClose={onClose}
      onSubmit={save}
      size={600}
    >
      <TextField label="Name" required data-autofocus {...text('name')} />
      <Group label="ICMP">
        <SwitchField
          label="Ping the addresses"
          checked={icmp !== null}
          onChange={(on) => setIcmp(on ? (before.icmp ?? STANDARD.icmp) : null)}
        />
        {icmp && (
          <Pair>
            <NumberFields path="settings.icmp" numbers={ICMP_NUMBERS} values={icmp} onChange={setIcmp} />
          </Pair>
        )}
      </Group>
      <Group label="SNMP">
        <SwitchField
          label="Read devices by SNMP"
          checked={snmp !== null}
          onChange={(on) => setSnmp(on ? (before.snmp ?? STANDARD.snmp) : null)}
        />
        {snmp && <SnmpFields snmp={snmp} onChange={setSnmp} />}
      </Group>
      <Group label="Pace">
        <Pair>
          <TextField
            label="Packets per second"
            description="Of the whole scan"
            {...text('rate', 'settings.rate')}
          />
          <TextField
            label="Into one /24"
            description="Packets per second"
            {...text('ratePerNet', 'settings.ratePerNet')}
          />
        </Pair>
      </Group>
      <TextField
        label="Follow neighbours"
        description="Rounds in which what LLDP and CDP name is scanned too, inside the site's networks"
        type="number"
        {...text('follow', 'settings.follow')}
      />
      <LinesField
        label="Never probe"
        description="Addresses and CIDRs, in addition to those of the site"
        {...text('exclude', 'settings.exclude')}
      />
      <SwitchField label="Look up names of alive addresses in DNS" {...flag('dns')} />
    </FormDialog>
  );
}

function SnmpFields({ snmp, onChange }: { snmp: Snmp; onChange: (snmp: Snmp) => void }) {
  return (
    <>
      <Pair>
        <ChoiceField
          path="settings.snmp.ask"
          label="Whom to ask"
          choices={[
            { value: 'all', label: 'those alive first, then the silent' },
            { value: 'alive', label: 'only those alive' },
          ]}
          value={snmp.ask}
          onChange={(value) => onChange({ ...snmp, ask: value === 'alive' ? 'alive' : 'all' })}
        />
        <TextField
          path="settings.snmp.port"
          label="Port"
          type="number"
          placeholder="of the site, else 161"
          value={snmp.port === null ? '' : String(snmp.port)}
          onChange={(port) => onChange({ ...snmp, port: port === '' ? null : Number(port) })}
        />
        <NumberFields path="settings.snmp" numbers={SNMP_NUMBERS} values={snmp} onChange={onChange} />
      </Pair>
      <ChecksField
        label="What is read, besides the system group"
        choices={FACT_GROUPS.map((group) => ({ value: group, label: GROUPS[group] }))}
        value={snmp.groups}
        onChange={(groups) =>
          onChange({ ...snmp, groups: FACT_GROUPS.filter((group) => groups.includes(group)) })
        }
      />
    </>
  );
}

function NumberFields<Name extends string, Values extends Record<Name, number>>({
  path,
  numbers,
  values,
  onChange,
}: {
  path: string;
  numbers: readonly (readonly [name: Name, label: string])[];
  values: Values;
  onChange: (values: Values) => void;
}) {
  return numbers.map(([name, label]) => (
    <TextField
      key={name}
      path={`${path}.${name}`}
      label={label}
      type="number"
      value={Number.isNaN(values[name]) ? '' : String(values[name])}
      onChange={(text) => onChange({ ...values, [name]: number(text) })}
    />
  ));
}
