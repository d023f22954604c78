import { ActionIcon, Menu } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { openSpotlight } from '@mantine/spotlight';
import { Severity } from '@rollcall/shared/model';
import {
  IconApi,
  IconDeviceDesktopAnalytics,
  IconDeviceTvOld,
  IconLicense,
  IconLogout,
  IconMenu2,
  IconMoon,
  IconSearch,
  IconSun,
  IconUserCircle,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useNavigate, useSearch } from '@tanstack/react-router';
import { memo, useCallback, useEffect, useRef, useState } from 'react';
import { apiQuery } from '../api.ts';
import { SEARCH_FIELD } from '../components/filter/index.ts';
import { absolute, useNow } from '../components/show/index.ts';
import { useLive } from '../live.ts';
import { usePreferences } from '../preferences.ts';
import { useHasLab, useMay, useMe } from '../session.tsx';
import { useScheme } from '../theme/scheme.ts';
import { useAction } from '../use-action.ts';
import { useEscape } from '../use-escape.ts';
import { Palette } from './command-palette.tsx';
import { KeyboardHelp, usePageKeys } from './keyboard.tsx';
import { LAB, MANAGES, PLACES, type Place } from './places.ts';
import classes from './shell.module.css';

export function Shell() {
  // Nothing else of the address: the frame stays as it is while a page is filtered and sorted.
  const kiosk = useSearch({ strict: false, select: (search) => search.kiosk === '1' });
  const arranged = useSearch({ strict: false, select: (search) => search.edit === '1' });
  const [open, setOpen] = useState(false);
  const place = useLocation({ select: (location) => location.pathname });
  const main = useRef<HTMLElement>(null);
  const [help, setHelp] = useState(false);
  const close = useCallback(() => setOpen(false), []);
  const showHelp = useCallback(() => setHelp(true), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page closes the menu
  useEffect(close, [place]);
  useHotkeys([
    ['mod+K', openSpotlight],
    ['/', focusSearch],
  ]);
  usePageKeys(showHelp);
  useEscape(close, open);
  useKiosk(kiosk);
  const wall = place === '/wall' && !arranged;
  const bare = kiosk || wall;
  return (
    <div className={classes.shell} data-kiosk={bare || undefined}>
      <button type="button" className={classes.skip} onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      {!bare && (
        <>
          <div className={classes.bar}>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label="Menu"
              aria-expanded={open}
              onClick={() => setOpen((was) => !was)}
            >
              <IconMenu2 size={18} />
            </ActionIcon>
            <Brand />
            <ActionIcon variant="subtle" color="gray" aria-label="Search" onClick={() => openSpotlight()}>
              <IconSearch size={17} />
            </ActionIcon>
          </div>
          <Navigation open={open} onClose={close} />
        </>
      )}
      <main id="main" ref={main} className={classes.main} tabIndex={-1}>
        <Outlet />
      </main>
      {bare && (
        <footer className={classes.kiosk} data-wall={wall || undefined}>
          <LiveStatus />
          <Clock />
        </footer>
      )}
      <Palette onHelp={showHelp} />
      {help && <KeyboardHelp onClose={() => setHelp(false)} />}
    </div>
  );
}

/** The search of the page where it has one, else the search of everything. */
function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>(`[${SEARCH_FIELD}]`);
  if (field) {
    field.focus();
    field.select();
  } else openSpotlight();
}

/** For screens on walls: larger, without anything to click; Esc leaves. */
function useKiosk(kiosk: boolean): void {
  const navigate = useNavigate();
  useEscape(
    () => void navigate({ to: '.', search: ((old: object) => ({ ...old, kiosk: undefined })) as never }),
    kiosk,
  );
  useEffect(() => {
    if (!kiosk) return;
    document.documentElement.dataset.kiosk = 'true';
    return () => {
      delete document.documentElement.dataset.kiosk;
    };
  }, [kiosk]);
}

const Brand = () => (
  <Link to="/" className={classes.brand}>
    <img src="/favicon.svg" alt="" width={22} height={22} />
    Rollcall
  </Link>
);

const Navigation = memo(function Navigation({ open, onClose }: { open: boolean; onClose: () => void }) {
  const manages = useMay(MANAGES);
  const lab = useHasLab();
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc closes it, and so does every link in it
    <nav
      className={classes.nav}
      aria-label="Main"
      data-open={open || undefined}
      onClick={(event) => event.target instanceof Element && event.target.closest('a') && onClose()}
    >
      <Brand />
      <button type="button" className={classes.search} onClick={() => openSpotlight()}>
        <IconSearch size={14} aria-hidden />
        Search
        <kbd>Ctrl K</kbd>
      </button>
      {PLACES.watch.map((place) => (
        <NavItem key={place.to} {...place} />
      ))}
      {lab && (
        <>
          <div className={classes.group}>Demonstration</div>
          <NavItem {...LAB} />
        </>
      )}
      <div className={classes.group}>Operations</div>
      {PLACES.run.map((place) => (
        <NavItem key={place.to} {...place} />
      ))}
      {manages && (
        <>
          <div className={classes.group}>Administration</div>
          {PLACES.manage.map((place) => (
            <NavItem key={place.to} {...place} />
          ))}
        </>
      )}
      <div className={classes.foot}>
        <LiveStatus />
        <PersonMenu />
      </div>
    </nav>
  );
});

function NavItem({ to, label, icon: Icon, open, search = {} }: Place) {
  const count = useOpenCount(open);
  return (
    <Link
      to={to}
      search={search as never}
      className={classes.item}
      activeOptions={{ exact: to === '/', includeSearch: false }}
      activeProps={{ 'data-active': true }}
    >
      <Icon size={17} stroke={1.6} aria-hidden />
      {label}
      {count > 0 && (
        <span className={classes.count}>
          {count > 9_999 ? '9,999+' : count.toLocaleString('en')}
          <span className="hidden"> open</span>
        </span>
      )}
    </Link>
  );
}

function useOpenCount(of: Place['open']): number {
  const { data } = useQuery({ ...apiQuery('summary.get', {}), enabled: of !== undefined });
  if (!data || !of) return 0;
  const { events, cases } = data.data;
  // As many as the page behind it lists: what is wrong, not what is merely new.
  if (of === 'events')
    return events.bySeverity.reduce(
      (sum, { severity, open }) => (severity < Severity.info ? sum + open : sum),
      0,
    );
  return cases.open + cases.investigating;
}

function LiveStatus() {
  const live = useLive();
  const { zone } = usePreferences();
  const text =
    live.status === 'stale'
      ? `stale since ${absolute(Math.floor(live.since / 1000), zone).slice(11)}`
      : live.status;
  return (
    <output className={classes.live} data-status={live.status}>
      <span className={classes.dot} aria-hidden />
      {text}
    </output>
  );
}

function Clock() {
  const { zone } = usePreferences();
  return <span>{absolute(Math.floor(useNow() / 1000), zone).slice(0, 16)}</span>;
}

const THEMES = [
  { value: 'auto', label: 'Theme of the system', icon: IconDeviceDesktopAnalytics },
  { value: 'light', label: 'Light', icon: IconSun },
  { value: 'dark', label: 'Dark', icon: IconMoon },
] as const;

function PersonMenu() {
  const { user } = useMe();
  const navigate = useNavigate();
  const { colorScheme, choose } = useScheme();
  const { run: endSession } = useAction('session.delete', { failed: 'Not signed out' });
  // The page begins anew: nothing of the person who was here stays in it, and the browser has forgotten what it stored.
  const signOut = async () => {
    if (await endSession({})) window.location.reload();
  };
  return (
    <Menu position="top-start" width={214}>
      <Menu.Target>
        <button type="button" className={classes.person}>
          <IconUserCircle size={17} stroke={1.6} aria-hidden />
          <span className="cut">{user.displayName || user.name}</span>
          <span className={classes.role}>{user.role}</span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component={Link} to="/profile" leftSection={<IconUserCircle size={15} />}>
          Profile and API tokens
        </Menu.Item>
        <Menu.Item component="a" href="/api/docs" target="_blank" leftSection={<IconApi size={15} />}>
          API documentation
        </Menu.Item>
        <Menu.Item component="a" href="/licenses" target="_blank" leftSection={<IconLicense size={15} />}>
          Licences
        </Menu.Item>
        <Menu.Item
          leftSection={<IconDeviceTvOld size={15} />}
          onClick={() =>
            void navigate({ to: '.', search: ((old: object) => ({ ...old, kiosk: '1' })) as never })
          }
        >
          Kiosk mode (Esc leaves)
        </Menu.Item>
        <Menu.Divider />
        {THEMES.map(({ value, label, icon: Icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon size={15} />}
            rightSection={colorScheme === value ? '✓' : undefined}
            aria-current={colorScheme === value || undefined}
            onClick={() => choose(value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={15} />} onClick={() => void signOut()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
