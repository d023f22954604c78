import { Button, Group, PasswordInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDocumentTitle } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { call, type Result } from '../api.ts';
import { ApiError } from '../api-error.ts';
import classes from './sign-in.module.css';

export function SignIn({ onSignedIn }: { onSignedIn: (me: Result<'session.get'>) => void }) {
  useDocumentTitle('Sign in · Rollcall');
  const form = useForm({ initialValues: { name: '', password: '' } });
  const signIn = useMutation({
    mutationFn: () => call('session.create', { body: form.values }),
    onSuccess: (me) => onSignedIn(me),
  });
  return (
    <main className={classes.page}>
      <form
        onSubmit={form.onSubmit(() => signIn.mutate())}
        className={classes.card}
        aria-labelledby="sign-in"
      >
        <Group gap={12} mb={4}>
          <img src="/favicon.svg" alt="" width={38} height={38} />
          <div>
            <h1 id="sign-in">Rollcall</h1>
            <p>Sign in to your network</p>
          </div>
        </Group>
        <TextInput
          label="Name"
          size="sm"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          autoFocus
          required
          withAsterisk={false}
          {...form.getInputProps('name')}
        />
        <PasswordInput
          label="Password"
          size="sm"
          autoComplete="current-password"
          required
          withAsterisk={false}
          {...form.getInputProps('password')}
        />
        {signIn.error && (
          <p className={classes.problem} role="alert">
            {signIn.error instanceof ApiError ? signIn.error.message : 'Signing in failed. Try again.'}
          </p>
        )}
        <Button type="submit" size="sm" loading={signIn.isPending} fullWidth mt={4}>
          Sign in
        </Button>
      </form>
    </main>
  );
}
