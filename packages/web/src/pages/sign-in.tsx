import { Button, Group, PasswordInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDocumentTitle } from '@mantine/hooks';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiQuery, call, type Result } from '../api.ts';
import { ApiError } from '../api-error.ts';
import classes from './sign-in.module.css';
import { type Refusal, refusalText } from './sign-in-refusals.ts';

export function SignIn({
  onSignedIn,
  refused,
}: {
  onSignedIn: (me: Result<'session.get'>) => void;
  /** Why a sign-in with the provider came to nothing, just now. */
  refused: Refusal | undefined;
}) {
  useDocumentTitle('Sign in · Rollcall');
  const form = useForm({ initialValues: { name: '', password: '', code: '' } });
  // How often the code was asked for: the password was right, and the account has a second factor.
  const [asked, setAsked] = useState(0);
  const ways = useQuery({ ...apiQuery('session.ways', {}), staleTime: Number.POSITIVE_INFINITY });
  const provider = ways.data?.data.oidc;
  const signIn = useMutation({
    mutationFn: () => {
      const { code, ...body } = form.values;
      return call('session.create', { body: { ...body, ...(asked > 0 && { code }) } });
    },
    onSuccess: (me) => onSignedIn(me),
    onError: (error) => {
      const ofCode = isAboutCode(error);
      setAsked((before) => (ofCode ? before + 1 : 0));
      if (ofCode) form.setFieldValue('code', '');
    },
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
        {refused && !signIn.error && <Refused refusal={refused} provider={provider?.name} />}
        {provider && <WithProvider name={provider.name} start={provider.start} />}
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
        {asked > 0 && (
          <TextInput
            label="Code"
            description="Of your authenticator app, or a recovery code"
            size="sm"
            autoComplete="one-time-code"
            autoCapitalize="none"
            spellCheck={false}
            autoFocus
            required
            withAsterisk={false}
            {...form.getInputProps('code')}
          />
        )}
        {/* The first time nothing is wrong yet. */}
        {signIn.error && asked !== 1 && (
          <p className={classes.problem} role="alert">
            {signIn.error instanceof ApiError ? signIn.error.message : 'Signing in failed. Try again.'}
          </p>
        )}
        <Button
          type="submit"
          size="sm"
          variant={provider ? 'default' : 'filled'}
          loading={signIn.isPending}
          fullWidth
          mt={4}
        >
          {provider ? 'Sign in with a password' : 'Sign in'}
        </Button>
      </form>
    </main>
  );
}

const isAboutCode = (error: unknown): boolean =>
  error instanceof ApiError && error.details.some(({ path }) => path === 'code');

/** Leads away from this page, and back to where it is. */
function WithProvider({ name, start }: { name: string; start: string }) {
  const here = location.pathname + location.search;
  const href = here === '/' ? start : `${start}?to=${encodeURIComponent(here)}`;
  return (
    <>
      <Button component="a" href={href} size="sm" fullWidth>
        Sign in with {name}
      </Button>
      <p className="quiet">or with a local password</p>
    </>
  );
}

function Refused({ refusal, provider = 'The provider' }: { refusal: Refusal; provider: string | undefined }) {
  return (
    <div role="alert" className={classes.refused}>
      <p className={classes.problem}>{refusalText(refusal.code, provider)}</p>
      <p className="quiet">In the log of the server: {refusal.request}</p>
    </div>
  );
}
