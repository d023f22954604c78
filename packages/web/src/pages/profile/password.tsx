import { Box, PasswordInput, Switch } from '@mantine/core';
import { useForm } from '@mantine/form';
import { PASSWORD_LEAST } from '@rollcall/shared/api/accounts';
import { call } from '../../api.ts';
import { notify } from '../../components/feedback/index.ts';
import { Form } from '../../components/form/index.ts';
import { plural } from '../../format.ts';
import { useMe } from '../../session.tsx';
import { useInvalidate } from '../../use-action.ts';

const EMPTY = { current: '', next: '', again: '', revokeTokens: false };

export function Password() {
  const { user } = useMe();
  const form = useForm({ initialValues: EMPTY });
  const { current, next, again, revokeTokens } = form.values;
  const refresh = useInvalidate();
  return (
    <Box component="section" className="panel" maw={460} p={16} aria-label="Change the password">
      <Form
        submit="Change the password"
        ready={current !== '' && next.length >= PASSWORD_LEAST && next === again}
        onSubmit={async () => {
          await call('session.password', { body: { current, next, revokeTokens } });
          form.reset();
          refresh('sessions', 'tokens');
          notify('Changed. Every other session is signed out.');
        }}
      >
        <input type="text" autoComplete="username" value={user.name} readOnly hidden />
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          {...form.getInputProps('current')}
        />
        <PasswordInput
          label="New password"
          description={`${plural(PASSWORD_LEAST, 'character')} at least; 15 or more are advised, any will do`}
          autoComplete="new-password"
          {...form.getInputProps('next')}
        />
        <PasswordInput
          label="Confirm password"
          description={again !== '' && again !== next ? 'Not the same yet' : undefined}
          autoComplete="new-password"
          {...form.getInputProps('again')}
        />
        <Switch
          label="Also revoke all my API tokens"
          {...form.getInputProps('revokeTokens', { type: 'checkbox' })}
        />
      </Form>
    </Box>
  );
}
