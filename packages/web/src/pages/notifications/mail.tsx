import type { MailSettings } from '@rollcall/shared/api/deliveries';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useRefresh } from '../../action.ts';
import { askForEdit, call } from '../../api.ts';
import { ChoiceField, Form, Pair, PasswordField, TextField } from '../../components/form.tsx';
import { Panel } from '../../components/page.tsx';
import { Empty, ProblemView, say } from '../../components/problem.tsx';
import { Time } from '../../components/time.tsx';
import { useMe } from '../../session.tsx';
import classes from './notifications.module.css';

/** The server that mail goes through. */
export function Mail() {
  const { user } = useMe();
  const settings = useQuery({ ...askForEdit('mail.get', {}), enabled: user.allSites });
  if (!user.allSites)
    return (
      <Empty title="Not yours to set">
        One mail server serves all sites: an administrator who sees every site sets it.
      </Empty>
    );
  if (settings.error) return <ProblemView error={settings.error} retry={() => void settings.refetch()} />;
  if (!settings.data) return null;
  const { data } = settings.data;
  return (
    <Panel
      className={classes.mail}
      title="Mail server"
      note={
        data.updatedAt === null ? (
          'not set: no mail is sent'
        ) : (
          <>
            changed <Time at={data.updatedAt} />
          </>
        )
      }
    >
      <MailForm settings={data} key={data.updatedAt} />
    </Panel>
  );
}

const SECURITY: readonly { value: MailSettings['security']; label: string; port: number }[] = [
  { value: 'starttls', label: 'STARTTLS, required (587)', port: 587 },
  { value: 'tls', label: 'TLS from the first byte (465)', port: 465 },
  { value: 'none', label: 'none, in the clear (25)', port: 25 },
];
const isUsual = (port: string): boolean => SECURITY.some((one) => String(one.port) === port);

function MailForm({ settings }: { settings: MailSettings }) {
  const refresh = useRefresh();
  const [host, setHost] = useState(settings.host);
  const [port, setPort] = useState(String(settings.port));
  const [security, setSecurity] = useState(settings.security);
  const [user, setUser] = useState(settings.user);
  const [password, setPassword] = useState('');
  const [from, setFrom] = useState(settings.from);
  return (
    <div className={classes.form}>
      <Form
        submit="Save"
        onSubmit={async () => {
          const body = { host, port: Number(port), security, user, from, ...(password && { password }) };
          await call('mail.update', { body });
          refresh('edit');
          say(host.trim() ? 'Saved. Send a test from a subscription by e-mail.' : 'Saved. No mail is sent.');
        }}
      >
        <Pair>
          <TextField
            path="host"
            label="Host"
            description="Empty: no mail is sent"
            placeholder="smtp.example.net"
            value={host}
            onChange={setHost}
          />
          <TextField
            path="port"
            label="Port"
            description="Usually 587, 465 or 25"
            type="number"
            value={port}
            onChange={setPort}
          />
        </Pair>
        <ChoiceField
          path="security"
          label="Encryption"
          choices={SECURITY}
          value={security}
          onChange={(value) => {
            const chosen = SECURITY.find((one) => one.value === value);
            if (!chosen) return;
            setSecurity(chosen.value);
            if (isUsual(port)) setPort(String(chosen.port));
          }}
        />
        <Pair>
          <TextField
            path="user"
            label="User"
            description="Empty: without signing in"
            autoComplete="off"
            value={user}
            onChange={setUser}
          />
          <PasswordField
            path="password"
            label="Password"
            autoComplete="new-password"
            description={
              settings.password === 'set' && host === settings.host
                ? 'Empty: stays as it is'
                : 'Written, never read'
            }
            value={password}
            onChange={setPassword}
          />
        </Pair>
        <TextField
          path="from"
          label="From"
          placeholder="rollcall@example.net"
          required
          value={from}
          onChange={setFrom}
        />
      </Form>
    </div>
  );
}
