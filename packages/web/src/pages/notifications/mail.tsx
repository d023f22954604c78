import { Box, PasswordInput, Select, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { MailSettings } from '@rollcall/shared/api/deliveries';
import { useQuery } from '@tanstack/react-query';
import { call, editQuery } from '../../api.ts';
import { Empty, Loaded, notify } from '../../components/feedback/index.ts';
import { Form, Pair } from '../../components/form/index.ts';
import { Panel } from '../../components/page/index.ts';
import { Time } from '../../components/show/index.ts';
import { useMe } from '../../session.tsx';
import { useInvalidate } from '../../use-action.ts';
import classes from './notifications.module.css';

/** The server that mail goes through. */
export function Mail() {
  const { user } = useMe();
  const settings = useQuery({ ...editQuery('mail.get', {}), enabled: user.allSites });
  if (!user.allSites)
    return (
      <Empty title="For administrators of all sites">
        One mail server serves all sites: an administrator who sees every site sets it.
      </Empty>
    );
  return <Loaded query={settings}>{({ data }) => <MailPanel settings={data} key={data.updatedAt} />}</Loaded>;
}

const SECURITY: { value: MailSettings['security']; label: string; port: number }[] = [
  { value: 'starttls', label: 'STARTTLS, required (587)', port: 587 },
  { value: 'tls', label: 'TLS (465)', port: 465 },
  { value: 'none', label: 'none, unencrypted (25)', port: 25 },
];
const isUsual = (port: string): boolean => SECURITY.some((one) => String(one.port) === port);

function MailPanel({ settings }: { settings: MailSettings }) {
  const refresh = useInvalidate();
  const form = useForm({ initialValues: { ...settings, port: String(settings.port), password: '' } });
  const { host, port, security, user, from, password } = form.values;
  const save = async () => {
    const body = { host, port: Number(port), security, user, from, ...(password && { password }) };
    await call('mail.update', { body });
    refresh('edit');
    notify(host.trim() ? 'Saved. Send a test from a subscription by e-mail.' : 'Saved. No mail is sent.');
  };
  return (
    <Panel
      title="Mail server"
      className={classes.mail}
      note={
        settings.updatedAt === null ? (
          'not set: no mail is sent'
        ) : (
          <>
            changed <Time at={settings.updatedAt} />
          </>
        )
      }
    >
      <Box p={16}>
        <Form form={form} onSubmit={save}>
          <Pair>
            <TextInput
              label="Host"
              description="Empty: no mail is sent"
              placeholder="smtp.example.net"
              {...form.getInputProps('host')}
            />
            <TextInput
              label="Port"
              description="Usually 587, 465 or 25"
              type="number"
              {...form.getInputProps('port')}
            />
          </Pair>
          <Select
            label="Encryption"
            data={SECURITY}
            value={security}
            onChange={(value) => {
              const chosen = SECURITY.find((one) => one.value === value);
              if (chosen)
                form.setValues({
                  security: chosen.value,
                  ...(isUsual(port) && { port: String(chosen.port) }),
                });
            }}
          />
          <Pair>
            <TextInput
              label="User"
              description="Empty: without signing in"
              autoComplete="off"
              {...form.getInputProps('user')}
            />
            <PasswordInput
              label="Password"
              autoComplete="new-password"
              description={
                settings.password === 'set' && host === settings.host
                  ? 'Empty: stays as it is'
                  : 'Stored encrypted, never shown again'
              }
              {...form.getInputProps('password')}
            />
          </Pair>
          <TextInput
            label="From"
            placeholder="rollcall@example.net"
            required
            {...form.getInputProps('from')}
          />
        </Form>
      </Box>
    </Panel>
  );
}
