import { Select, Switch, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { Subscription } from '@rollcall/shared/api/subscriptions';
import { MONO, Pair } from '../../components/form/index.ts';
import { useMe } from '../../session.tsx';

/** RFC 5424 section 6.2.1, in the order of their numbers. */
const FACILITIES =
  'kern user mail daemon auth syslog lpr news uucp cron authpriv ftp ntp audit alert clock local0 local1 local2 local3 local4 local5 local6 local7'
    .split(' ')
    .map((label, value) => ({ value: String(value), label }));

export const syslogValues = (one: Subscription | undefined) => ({
  facility: String(one?.facility ?? 16),
  appName: one?.appName ?? 'rollcall',
  authority: one?.authority ?? '',
});
type SyslogValues = ReturnType<typeof syslogValues> & { url: string; allowPrivate: boolean };

export const syslogBody = ({ url, facility, appName, authority, allowPrivate }: SyslogValues) => ({
  ...{ url, appName, authority, allowPrivate },
  facility: Number(facility),
});

interface SyslogFieldsProps {
  // biome-ignore lint/suspicious/noExplicitAny: the whole form has more values than these
  form: UseFormReturnType<any>;
  values: SyslogValues;
}

export function SyslogFields({ form, values: { url, allowPrivate } }: SyslogFieldsProps) {
  const { user } = useMe();
  return (
    <>
      <TextInput
        label="Address"
        description="tls://, tcp:// or udp://, with the port; messages are of RFC 5424"
        placeholder="tls://log.example.net:6514"
        required
        {...form.getInputProps('url')}
      />
      <Pair>
        <Select
          label="Facility"
          data={FACILITIES}
          allowDeselect={false}
          {...form.getInputProps('facility')}
        />
        <TextInput label="App name" required {...form.getInputProps('appName')} />
      </Pair>
      {url.startsWith('tls:') && (
        <Textarea
          label="CA certificate"
          description="PEM of the authority that signs the server’s certificate; empty: public authorities"
          placeholder="-----BEGIN CERTIFICATE-----"
          autosize
          minRows={2}
          maxRows={6}
          styles={MONO}
          {...form.getInputProps('authority')}
        />
      )}
      {(user.allSites || allowPrivate) && (
        <Switch
          label="Allow a private address (10.x, 192.168.x, this host)"
          {...form.getInputProps('allowPrivate', { type: 'checkbox' })}
        />
      )}
    </>
  );
}
