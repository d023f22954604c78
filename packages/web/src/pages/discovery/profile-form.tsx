import { Select, Switch, Textarea, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import type { Profile } from '@rollcall/shared/api/profiles';
import { FACT_GROUPS } from '@rollcall/shared/profile';
import { ChecksField, FieldGroup, Pair } from '../../components/form/index.ts';
import type { FormOf } from '../../components/list/index.ts';
import { EditDialog } from '../../components/list/index.ts';
import { GROUPS } from './choices.ts';
import {
  ICMP_NUMBERS,
  type ProfileValues,
  profileSettings,
  profileValues,
  SNMP_NUMBERS,
} from './profile-values.ts';

const GROUP_CHOICES = FACT_GROUPS.map((group) => ({ value: group, label: GROUPS[group] }));
const ASK_CHOICES = [
  { value: 'all', label: 'All addresses, alive ones first' },
  { value: 'alive', label: 'Only those that answer ping' },
];

type Values = { name: string; settings: ProfileValues };

/** All settings of a profile; a new one begins `like` another. */
export function ProfileForm({ like, ...props }: FormOf<Profile> & { like: Profile | undefined }) {
  const { one } = props;
  const form = useForm<Values>({
    initialValues: {
      name: one?.name ?? (like ? `${like.name} copy` : ''),
      settings: profileValues((one ?? like)?.settings),
    },
  });
  const { name, settings } = form.values;
  const body = () => ({ name, settings: profileSettings(settings) });
  const switched = (path: 'ping' | 'read' | 'dns') =>
    form.getInputProps(`settings.${path}`, { type: 'checkbox' });
  return (
    <EditDialog kind="profiles" of={props} form={form} create={body} update={body} size={600}>
      <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
      <FieldGroup label="ICMP">
        <Switch label="Ping the addresses" {...switched('ping')} />
        {settings.ping && (
          <Pair>
            <NumberFields form={form} path="settings.icmp" labels={ICMP_NUMBERS} />
          </Pair>
        )}
      </FieldGroup>
      <FieldGroup label="SNMP">
        <Switch label="Read devices by SNMP" {...switched('read')} />
        {settings.read && (
          <>
            <Pair>
              <Select label="Ask by SNMP" data={ASK_CHOICES} {...form.getInputProps('settings.snmp.ask')} />
              <TextInput
                label="Port"
                type="number"
                placeholder="of the site, else 161"
                {...form.getInputProps('settings.snmp.port')}
              />
              <NumberFields form={form} path="settings.snmp" labels={SNMP_NUMBERS} />
            </Pair>
            <ChecksField
              label="What is read, besides the system group"
              choices={GROUP_CHOICES}
              {...form.getInputProps('settings.snmp.groups')}
            />
          </>
        )}
      </FieldGroup>
      <FieldGroup label="Pace">
        <Pair>
          <TextInput
            label="Packets per second"
            description="Of the whole scan; max: no limit"
            {...form.getInputProps('settings.rate')}
          />
          <TextInput
            label="Packets per second into one network"
            description="Of a /24, or of a /64 of IPv6; max: no limit"
            {...form.getInputProps('settings.ratePerNet')}
          />
        </Pair>
      </FieldGroup>
      <TextInput
        label="Follow neighbours"
        description="Also scan LLDP and CDP neighbours, up to so many hops away, inside the site's networks; 0: none"
        type="number"
        {...form.getInputProps('settings.follow')}
      />
      <Textarea
        label="Never probe"
        description="Addresses and CIDRs, in addition to those of the site"
        {...form.getInputProps('settings.exclude')}
      />
      <Switch label="Look up names of alive addresses in DNS" {...switched('dns')} />
    </EditDialog>
  );
}

const NumberFields = ({
  form,
  path,
  labels,
}: {
  form: UseFormReturnType<Values>;
  path: string;
  labels: Readonly<Record<string, string>>;
}) =>
  Object.entries(labels).map(([name, label]) => (
    <TextInput key={name} label={label} type="number" {...form.getInputProps(`${path}.${name}`)} />
  ));
