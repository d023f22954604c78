import { Box, Button, Group, PasswordInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDocumentTitle } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { generate } from 'lean-qr';
import { toSvgPath } from 'lean-qr/extras/svg';
import { useMemo, useState } from 'react';
import { keyOf, type Result } from '../../api.ts';
import { notify } from '../../components/feedback/index.ts';
import { Dialog, Form } from '../../components/form/index.ts';
import { CopyField } from '../../components/show/index.ts';
import { plural } from '../../format.ts';
import { useMe } from '../../session.tsx';
import { useSend } from '../../use-action.ts';
import classes from './profile.module.css';

/** The second factor of this account: set up, or removed. */
export function SecondFactor() {
  const { user, recoveryCodes } = useMe();
  const [removing, setRemoving] = useState(false);
  const [done, setDone] = useState<Result<'secondFactor.confirm'>>();
  const keep = useKeepMe();
  // Shown once: they stay until somebody has them, also where the account is read again meanwhile.
  if (done)
    return (
      <RecoveryCodes
        codes={done.recoveryCodes}
        onDone={() => {
          keep(done);
          setDone(undefined);
        }}
      />
    );
  if (!user.secondFactor) return <SetUp onDone={setDone} />;
  return (
    <Box component="section" className="panel" maw={560} p={16} aria-label="Second factor">
      <p>A sign-in needs a code of your authenticator app. {left(recoveryCodes)}</p>
      <p className="quiet">For another phone, or new recovery codes, remove it and set it up anew.</p>
      <Group mt={12}>
        <Button variant="default" onClick={() => setRemoving(true)}>
          Remove
        </Button>
      </Group>
      {removing && <Remove onClose={() => setRemoving(false)} />}
    </Box>
  );
}

/** In place of every page, where the server demands it and the account has none. */
export function MustSetUp() {
  useDocumentTitle('Second factor · Rollcall');
  return (
    <main className={classes.alone}>
      <h1>Set up your second factor</h1>
      <p className="quiet">
        This server asks for a code of an authenticator app in addition to the password.
      </p>
      <SecondFactor />
    </main>
  );
}

const left = (codes: number): string =>
  codes === 0
    ? 'No recovery code is left.'
    : `${plural(codes, 'recovery code is', 'recovery codes are')} left.`;

/** Password, then the code of the app. */
function SetUp({ onDone }: { onDone: (result: Result<'secondFactor.confirm'>) => void }) {
  const { user } = useMe();
  const [begun, setBegun] = useState<Result<'secondFactor.begin'>['data']>();
  const form = useForm({ initialValues: { password: '', code: '' } });
  const { password, code } = form.values;
  const send = useSend();
  if (begun)
    return (
      <Box component="section" className="panel" maw={560} p={16} aria-label="Set up the second factor">
        <Form
          form={form}
          submit="Confirm"
          ready={code.trim() !== ''}
          onSubmit={async () => onDone(await send('secondFactor.confirm', { body: { code } }))}
        >
          <p>Scan this with an authenticator app, then type the code that it shows.</p>
          <QrCode text={begun.uri} />
          <CopyField label="Key, to type it in by hand" text={begun.secret} />
          <TextInput
            label="Code"
            inputMode="numeric"
            autoComplete="one-time-code"
            data-autofocus
            {...form.getInputProps('code')}
          />
        </Form>
      </Box>
    );
  return (
    <Box component="section" className="panel" maw={560} p={16} aria-label="Set up the second factor">
      <Form
        form={form}
        submit="Set it up"
        ready={password !== ''}
        onSubmit={async () => setBegun((await send('secondFactor.begin', { body: { password } })).data)}
      >
        <p>
          With a second factor, a sign-in needs a code of an authenticator app in addition to the password.
          Every other session is signed out.
        </p>
        <input type="text" autoComplete="username" value={user.name} readOnly hidden />
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          {...form.getInputProps('password')}
        />
      </Form>
    </Box>
  );
}

/** The account as the server now has it; what waits for it is shown. */
function useKeepMe() {
  const client = useQueryClient();
  return ({ data }: Pick<Result<'session.get'>, 'data'>) =>
    client.setQueryData(keyOf('session.get', {}), { success: true, data });
}

function QrCode({ text }: { text: string }) {
  const code = useMemo(() => generate(text), [text]);
  // Readers want a white border of four modules, in dark pages too (ISO 18004).
  return (
    <svg
      className={classes.qr}
      viewBox={`-4 -4 ${code.size + 8} ${code.size + 8}`}
      role="img"
      aria-label="QR code for the authenticator app"
    >
      <path d={toSvgPath(code)} />
    </svg>
  );
}

function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) {
  const text = codes.join('\n');
  return (
    <Box component="section" className="panel" maw={560} p={16} aria-label="Recovery codes">
      <h2>Recovery codes</h2>
      <p>
        Each of these codes signs in once when the authenticator app is not at hand. They are shown{' '}
        <strong>only now</strong>: keep them in a safe place, not on the device with the app.
      </p>
      <pre className={classes.codes}>{text}</pre>
      <Group>
        <Button
          variant="default"
          onClick={() => void navigator.clipboard?.writeText(text).then(() => notify('Copied.'))}
        >
          Copy
        </Button>
        <Button onClick={onDone}>I have them</Button>
      </Group>
    </Box>
  );
}

function Remove({ onClose }: { onClose: () => void }) {
  const form = useForm({ initialValues: { code: '' } });
  const send = useSend();
  const keep = useKeepMe();
  return (
    <Dialog title="Remove the second factor?" onClose={onClose}>
      <Form
        form={form}
        submit="Remove"
        danger
        ready={form.values.code.trim() !== ''}
        onCancel={onClose}
        onSubmit={async () => {
          keep(await send('secondFactor.remove', { body: form.values }));
          notify('The password alone signs in again.');
        }}
      >
        <TextInput
          label="Code"
          description="Of the app, or a recovery code"
          autoComplete="one-time-code"
          data-autofocus
          {...form.getInputProps('code')}
        />
      </Form>
    </Dialog>
  );
}
