import { Stack, Text } from '@mantine/core';
import type { ComponentType } from 'react';
import { Page, Tabs } from '../../components/page/index.ts';
import { useMe } from '../../session.tsx';
import { useUrlState } from '../../url-state.ts';
import { Appearance } from './appearance.tsx';
import { Password } from './password.tsx';
import { SecondFactor } from './second-factor.tsx';
import { Sessions } from './sessions.tsx';
import { Tokens } from './tokens.tsx';

const TABS = [
  { id: 'tokens', label: 'API tokens' },
  { id: 'sessions', label: 'Sessions' },
  { id: 'password', label: 'Password' },
  { id: 'second-factor', label: 'Second factor' },
  { id: 'appearance', label: 'Preferences' },
];
/** Who signs in with the provider has none of these here. */
const OF_PASSWORDS = new Set(['password', 'second-factor']);
const PARTS: Record<string, ComponentType> = {
  tokens: Tokens,
  sessions: Sessions,
  password: Password,
  'second-factor': SecondFactor,
  appearance: Appearance,
};

export function Profile() {
  const {
    search: { tab = 'tokens' },
  } = useUrlState('/profile');
  const { user } = useMe();
  const Part = PARTS[tab] ?? Tokens;
  const tabs = TABS.filter(({ id }) => !OF_PASSWORDS.has(id) || user.signIn === 'password');
  return (
    <Page
      title="Profile"
      heading={
        <>
          Profile{' '}
          <Text span size="sm" c="dimmed" ml={6}>
            {user.displayName || user.name}
          </Text>
        </>
      }
    >
      <Tabs label="Parts of the profile" tabs={tabs} active={tab} />
      <Stack gap={12} maw={900}>
        <Part />
      </Stack>
    </Page>
  );
}
