import { Button, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ApiError, call } from '../api.ts';
import classes from './sign-in.module.css';

export function SignIn() {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const signIn = useMutation({
    mutationFn: () => call('session.create', { body: { name, password } }),
    onSuccess: () => client.resetQueries(),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate();
  };
  const error = signIn.error instanceof ApiError ? signIn.error : undefined;
  return (
    <main className={classes.page}>
      <form onSubmit={submit} className={classes.card} aria-labelledby="sign-in">
        <img src="/favicon.svg" alt="" width={40} height={40} />
        <Title order={1} id="sign-in">
          Rollcall
        </Title>
        <Text size="sm" className="quiet" mb="sm">
          Sign in to your network.
        </Text>
        <Stack gap="sm">
          <TextInput
            label="Name"
            size="sm"
            autoComplete="username"
            autoFocus
            required
            withAsterisk={false}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <PasswordInput
            label="Password"
            size="sm"
            autoComplete="current-password"
            required
            withAsterisk={false}
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          {error && (
            <Text size="sm" c="var(--bad)" role="alert">
              {error.message}
            </Text>
          )}
          <Button type="submit" size="sm" loading={signIn.isPending} fullWidth mt={4}>
            Sign in
          </Button>
        </Stack>
      </form>
    </main>
  );
}
