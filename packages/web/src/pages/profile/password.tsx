import { Switch } from '@mantine/core';
import { PASSWORD_LEAST } from '@rollcall/shared/api/accounts';
import { useState } from 'react';
import { useRefresh } from '../../action.ts';
import { call } from '../../api.ts';
import { Form, PasswordField } from '../../components/form.tsx';
import { say } from '../../components/problem.tsx';
import { useMe } from '../../session.tsx';
import classes from './profile.module.css';

export function Password() {
  const { user } = useMe();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [again, setAgain] = useState('');
  const [revokeTokens, setRevokeTokens] = useState(false);
  const refresh = useRefresh();
  return (
    <section className={`panel ${classes.narrow}`} aria-label="Change the password">
      <Form
        submit="Change the password"
        ready={current !== '' && next.length >= PASSWORD_LEAST && next === again}
        onSubmit={async () => {
          await call('session.password', { body: { current, next, revokeTokens } });
          setCurrent('');
          setNext('');
          setAgain('');
          refresh('sessions', 'tokens');
          say('Changed. Every other session is signed out.');
        }}
      >
        <input type="text" autoComplete="username" value={user.name} readOnly hidden />
        <PasswordField
          path="current"
          label="Present password"
          autoComplete="current-password"
          value={current}
          onChange={setCurrent}
        />
        <PasswordField
          path="next"
          label="New password"
          description={`${PASSWORD_LEAST} characters at least; 15 or more are advised, any will do`}
          autoComplete="new-password"
          value={next}
          onChange={setNext}
        />
        <PasswordField
          path="again"
          label="Once more"
          description={again !== '' && again !== next ? 'Not the same yet' : undefined}
          autoComplete="new-password"
          value={again}
          onChange={setAgain}
        />
        <Switch
          label="Revoke all my API tokens, too"
          checked={revokeTokens}
          onChange={(event) => setRevokeTokens(event.currentTarget.checked)}
        />
      </Form>
    </section>
  );
}
