import { Switch } from '@mantine/core';
import type { Profile } from '@rollcall/shared/api/profiles';
import {
  BUILT_IN_PROFILES,
  FACT_GROUPS,
  type FactGroup,
  type ProfileSettings,
} from '@rollcall/shared/profile';
import { useState } from 'react';
import { useRefresh } from '../../action.ts';
import { call } from '../../api.ts';
import {
  ChecksField,
  ChoiceField,
  FormDialog,
  Group,
  LinesField,
  Pair,
  TextField,
} from '../../components/form.tsx';

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

/** Numbers are kept as they were typed: the server says what is wrong with one. */
const number = (text: string): number => (text.trim() === '' ? Number.NaN : Number(text));
const rate = (text: string): number | 'max' => (text.trim() === 'max' ? 'max' : number(text));

/** All settings of a profile. */
export function ProfileForm({
  profile,
  copy,
  onClose,
}: {
  profile: Profile | undefined;
  copy: boolean;
  onClose: () => void;
}) {
  const before = profile?.settings ?? STANDARD;
  const [name, setName] = useState(profile ? (copy ? `${profile.name} copy` : profile.name) : '');
  const [icmp, setIcmp] = useState<Icmp | null>(before.icmp);
  const [snmp, setSnmp] = useState<Snmp | null>(before.snmp);
  const [packets, setPackets] = useState(String(before.rate));
  const [perNet, setPerNet] = useState(String(before.ratePerNet));
  const [dns, setDns] = useState(before.dns);
  const [follow, setFollow] = useState(before.follow);
  const [exclude, setExclude] = useState(before.exclude.join('\n'));
  const refresh = useRefresh();
  const save = async () => {
    const settings = {
      icmp,
      snmp,
      rate: rate(packets),
      ratePerNet: rate(perNet),
      dns,
      follow,
      exclude: exclude.split(/[\s,]+/).filter(Boolean),
    };
    if (profile && !copy)
      await call('profiles.update', { params: { id: profile.id }, body: { name, settings } });
    else await call('profiles.create', { body: { name, settings } });
    refresh('profiles');
  };
  return (
    <FormDialog
      title={profile && !copy ? `Profile ${profile.name}` : 'New profile'}
      opened
      onClose={onClose}
      onSubmit={save}
      submit="Save"
      size={600}
    >
      <TextField path="name" label="Name" required value={name} onChange={setName} data-autofocus />
      <Group label="ICMP">
        <Switch
          label="Ping the addresses"
          checked={icmp !== null}
          onChange={(event) => setIcmp(event.currentTarget.checked ? (before.icmp ?? STANDARD.icmp) : null)}
        />
        {icmp && (
          <Pair>
            <NumberField
              path="settings.icmp.tries"
              label="Tries"
              value={icmp.tries}
              onChange={(tries) => setIcmp({ ...icmp, tries })}
            />
            <NumberField
              path="settings.icmp.timeoutMs"
              label="Time-out, ms"
              value={icmp.timeoutMs}
              onChange={(timeoutMs) => setIcmp({ ...icmp, timeoutMs })}
            />
          </Pair>
        )}
      </Group>
      <Group label="SNMP">
        <Switch
          label="Read devices by SNMP"
          checked={snmp !== null}
          onChange={(event) => setSnmp(event.currentTarget.checked ? (before.snmp ?? STANDARD.snmp) : null)}
        />
        {snmp && <SnmpFields snmp={snmp} onChange={setSnmp} />}
      </Group>
      <Group label="Pace">
        <Pair>
          <TextField
            path="settings.rate"
            label="Packets per second"
            description="Of the whole scan"
            value={packets}
            onChange={setPackets}
          />
          <TextField
            path="settings.ratePerNet"
            label="Into one /24"
            description="Packets per second"
            value={perNet}
            onChange={setPerNet}
          />
        </Pair>
      </Group>
      <NumberField
        path="settings.follow"
        label="Follow neighbours"
        description="Rounds in which what LLDP and CDP name is scanned too, inside the site's networks"
        value={follow}
        onChange={setFollow}
      />
      <LinesField
        path="settings.exclude"
        label="Never probe"
        description="Addresses and CIDRs, in addition to those of the site"
        value={exclude}
        onChange={setExclude}
      />
      <Switch
        label="Look up names of alive addresses in DNS"
        checked={dns}
        onChange={(event) => setDns(event.currentTarget.checked)}
      />
    </FormDialog>
  );
}

function SnmpFields({ snmp, onChange }: { snmp: Snmp; onChange: (snmp: Snmp) => void }) {
  const set = (change: Partial<Snmp>) => onChange({ ...snmp, ...change });
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
          onChange={(value) => set({ ask: value === 'alive' ? 'alive' : 'all' })}
        />
        <TextField
          path="settings.snmp.port"
          label="Port"
          type="number"
          placeholder="of the site, else 161"
          value={snmp.port === null ? '' : String(snmp.port)}
          onChange={(port) => set({ port: port === '' ? null : Number(port) })}
        />
        <NumberField
          path="settings.snmp.tries"
          label="Tries"
          value={snmp.tries}
          onChange={(tries) => set({ tries })}
        />
        <NumberField
          path="settings.snmp.timeoutMs"
          label="Time-out, ms"
          value={snmp.timeoutMs}
          onChange={(timeoutMs) => set({ timeoutMs })}
        />
        <NumberField
          path="settings.snmp.perDevice"
          label="Requests in flight to one device"
          value={snmp.perDevice}
          onChange={(perDevice) => set({ perDevice })}
        />
        <NumberField
          path="settings.snmp.deviceBudgetMs"
          label="Longest time for one device, ms"
          value={snmp.deviceBudgetMs}
          onChange={(deviceBudgetMs) => set({ deviceBudgetMs })}
        />
        <NumberField
          path="settings.snmp.rows"
          label="Most rows of one table"
          value={snmp.rows}
          onChange={(rows) => set({ rows })}
        />
        <NumberField
          path="settings.snmp.attempts"
          label="Failed sign-ins per host and day"
          value={snmp.attempts}
          onChange={(attempts) => set({ attempts })}
        />
      </Pair>
      <ChecksField
        label="What is read, besides the system group"
        choices={FACT_GROUPS.map((group) => ({ value: group, label: GROUPS[group] }))}
        value={snmp.groups}
        onChange={(groups) => set({ groups: FACT_GROUPS.filter((group) => groups.includes(group)) })}
      />
    </>
  );
}

function NumberField({
  path,
  label,
  description,
  value,
  onChange,
}: {
  path: string;
  label: string;
  description?: string;
  value: number;
  onChange: (value: number) => void;
}) {
  return (
    <TextField
      path={path}
      label={label}
      {...(description === undefined ? {} : { description })}
      type="number"
      value={Number.isNaN(value) ? '' : String(value)}
      onChange={(text) => onChange(number(text))}
    />
  );
}
