import { ActionIcon, Group, Menu, Text, Tooltip, UnstyledButton, useMantineColorScheme } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { openSpotlight } from '@mantine/spotlight';
import {
  IconAlertCircle,
  IconBinaryTree2,
  IconBriefcase,
  IconBroadcast,
  IconBuilding,
  IconDeviceDesktop,
  IconGauge,
  IconHistory,
  IconLogout,
  IconMoon,
  IconRadar2,
  IconSearch,
  IconSun,
  IconUser,
  IconUsers,
} from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { ask, call } from './api.ts';
import { Palette } from './components/palette.tsx';
import { absolute } from './components/time.tsx';
import { useLive } from './live.ts';
import { usePreferences } from './preferences.ts';
import { useMay, useMe } from './session.tsx';
import classes from './shell.module.css';

const NAV = [
  { to: '/', label: 'Overview', icon: IconGauge },
  { to: '/devices', label: 'Devices', icon: IconDeviceDesktop },
  { to: '/topology', label: 'Topology', icon: IconBinaryTree2 },
  { to: '/events', label: 'Events', icon: IconAlertCircle },
  { to: '/cases', label: 'Cases', icon: IconBriefcase },
  { to: '/discovery', label: 'Discovery', icon: IconRadar2 },
  { to: '/collectors', label: 'Collectors', icon: IconBroadcast },
] as const;
const ADMIN_NAV = [
  { to: '/sites', label: 'Sites', icon: IconBuilding },
  { to: '/users', label: 'Users', icon: IconUsers },
  { to: '/audit', label: 'Audit', icon: IconHistory },
] as const;

export function Shell() {
  const admin = useMay('admin');
  useHotkeys([
    ['mod+K', openSpotlight],
    ['/', openSpotlight],
  ]);
  return (
    <div className={classes.shell}>
      <a href="#main" className={classes.skip}>
        Skip to content
      </a>
      <nav className={classes.nav} aria-label="Main">
        <Link to="/" className={classes.brand} aria-label="Rollcall, overview">
          <img src="/favicon.svg" alt="" width={24} height={24} />
          <span className={classes.word}>Rollcall</span>
        </Link>
        {NAV.map((item) => (
          <NavLink key={item.to} {...item} />
        ))}
        {admin && (
          <>
            <hr className={classes.rule} />
            {ADMIN_NAV.map((item) => (
              <NavLink key={item.to} {...item} />
            ))}
          </>
        )}
      </nav>
      <header className={classes.top}>
        <UnstyledButton className={classes.search} onClick={() => openSpotlight()}>
          <IconSearch size={15} aria-hidden />
          <span>Search devices, cases, pages</span>
          <kbd>/</kbd>
        </UnstyledButton>
        <Group gap="sm" wrap="nowrap" ml="auto">
          <LiveMark />
          <SchemeSwitch />
          <PersonMenu />
        </Group>
      </header>
      <main id="main" className={classes.main}>
        <Outlet />
      </main>
      <Palette />
    </div>
  );
}

function NavLink({ to, label, icon: Icon }: (typeof NAV)[number] | (typeof ADMIN_NAV)[number]) {
  const open = useOpenCount(to);
  return (
    <Link
      to={to as string}
      className={classes.item}
      activeOptions={{ exact: to === '/' }}
      activeProps={{ 'data-active': true }}
    >
      <Icon size={18} stroke={1.7} aria-hidden />
      <span className={classes.word}>{label}</span>
      {open > 0 && (
        <span className={classes.count}>
          {open > 999 ? '999+' : open}
          <span className={classes.hidden}> open</span>
        </span>
      )}
    </Link>
  );
}

function useOpenCount(to: string): number {
  const { data } = useQuery({ ...ask('summary.get', {}), enabled: to === '/events' || to === '/cases' });
  if (!data) return 0;
  if (to === '/events') return data.data.events.open;
  return to === '/cases' ? data.data.cases.open + data.data.cases.investigating : 0;
}

function LiveMark() {
  const live = useLive();
  const { zone } = usePreferences();
  const text =
    live.status === 'stale' ? `stale since ${absolute(Math.floor(live.since / 1000), zone)}` : live.status;
  return (
    <output className={classes.live} data-status={live.status}>
      <span className={classes.dot} aria-hidden />
      <Text size="xs" c="inherit">
        {text}
      </Text>
    </output>
  );
}

function SchemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const next = { auto: 'light', light: 'dark', dark: 'auto' } as const;
  const label = { auto: 'Theme: as the system', light: 'Theme: light', dark: 'Theme: dark' }[colorScheme];
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={label}
        onClick={() => setColorScheme(next[colorScheme])}
      >
        {colorScheme === 'dark' ? <IconMoon size={17} /> : <IconSun size={17} />}
      </ActionIcon>
    </Tooltip>
  );
}

function PersonMenu() {
  const { user } = useMe();
  const client = useQueryClient();
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Account of ${user.displayName || user.name}`}>
          <IconUser size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {user.displayName || user.name} · {user.role}
        </Menu.Label>
        <Menu.Item component={Link} to="/profile" leftSection={<IconUser size={15} />}>
          Profile and API tokens
        </Menu.Item>
        <Menu.Item component="a" href="/api/docs" leftSection={<IconBinaryTree2 size={15} />}>
          API documentation
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconLogout size={15} />}
          onClick={() => void call('session.delete', {}).finally(() => client.resetQueries())}
        >
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
