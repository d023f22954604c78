import { Spotlight, type SpotlightActionData, spotlight } from '@mantine/spotlight';
import type { SearchHit } from '@rollcall/shared/api/search';
import {
  IconArrowRight,
  IconBolt,
  IconBriefcase,
  IconPlug,
  IconPlugConnected,
  IconSearch,
  IconServer,
} from '@tabler/icons-react';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, memo, type ReactNode, useEffect, useState } from 'react';
import { apiQuery } from '../api.ts';
import { notify, notifyProblem } from '../components/feedback/index.ts';
import { copyText } from '../components/show/index.ts';
import { useHasLab, useMay } from '../session.tsx';
import { useScheme } from '../theme/scheme.ts';
import { LAB, MANAGES, PLACES } from './places.ts';

interface Goal {
  to: string;
  label: string;
  description: string;
}
/** Pages where something is done at once, and places within pages. */
const GOALS: readonly Goal[] = [
  { to: '/cases?new=1', label: 'New case', description: 'open a case by hand' },
  {
    to: '/devices?status=down',
    label: 'Devices that are down',
    description: 'those that are monitored and do not answer',
  },
  {
    to: '/free-ports?class=switch',
    label: 'Free ports',
    description: 'ports of switches that were not used for 90 days',
  },
  { to: '/cases?assignee=me', label: 'My cases', description: 'cases assigned to me' },
  { to: '/discovery?new=1', label: 'Start a scan', description: 'plan and start a scan' },
  { to: '/discovery?tab=schedules', label: 'Schedules', description: 'scans at set times' },
  { to: '/discovery?tab=profiles', label: 'Profiles', description: 'settings of a scan' },
  { to: '/discovery?tab=credentials', label: 'Credentials', description: 'SNMP communities and users' },
  { to: '/maintenance?edit=new', label: 'Plan maintenance', description: 'once or repeating' },
  { to: '/profile', label: 'API tokens', description: 'create, list and revoke my tokens' },
  { to: '/profile?tab=sessions', label: 'Sessions', description: 'where I am signed in' },
  { to: '/profile?tab=password', label: 'Password', description: 'change my password' },
  {
    to: '/profile?tab=appearance',
    label: 'Preferences',
    description: 'theme, times, time zone, default site',
  },
];
const ADMIN_GOALS: readonly Goal[] = [
  ...PLACES.manage,
  { to: '/sites?edit=new', label: 'New site', description: 'a place with its networks' },
  { to: '/users?edit=new', label: 'New user', description: 'an account with a role and sites' },
  { to: '/collectors?new=1', label: 'Add a collector', description: 'create a join token' },
  {
    to: '/notifications?tab=deliveries',
    label: 'Delivery log',
    description: 'what was sent, and what was answered',
  },
  { to: '/notifications?tab=mail', label: 'Mail server', description: 'how mail is sent' },
];
/** What is done on the page that is open, by its address. */
const HERE: readonly { at: RegExp; to: (id: string) => string; label: string; description: string }[] = [
  {
    at: /^\/devices\/([^/]+)$/,
    to: (id) => `/maintenance?edit=new&device=${id}`,
    label: 'Plan maintenance of this device',
    description: 'planned work: its events open no case meanwhile',
  },
  {
    at: /^\/devices\/([^/]+)$/,
    to: (id) => `/topology?device=${id}`,
    label: 'Show this device on the map',
    description: 'with its links',
  },
  {
    at: /^\/devices\/([^/]+)$/,
    to: (id) => `/events?Device=${id}`,
    label: 'Events of this device',
    description: 'open and closed',
  },
];
const LEAST = 2;
const KINDS = ['device', 'endpoint', 'interface', 'case'] as const satisfies SearchHit['kind'][];

const ICONS: Record<SearchHit['kind'], ReactNode> = {
  device: <IconServer size={16} aria-hidden />,
  interface: <IconPlug size={16} aria-hidden />,
  endpoint: <IconPlugConnected size={16} aria-hidden />,
  case: <IconBriefcase size={16} aria-hidden />,
};

/** The page where a hit is shown. */
function addressOf({ kind, id, siteId, deviceId }: SearchHit): string {
  if (kind === 'case') return `/cases/${id}`;
  if (kind === 'endpoint') return `/endpoints?mac=${id}&endpoint=${id}&in=${siteId}`;
  if (kind === 'interface') return `/devices/${deviceId}?tab=performance&interface=${id}`;
  return `/devices/${id}`;
}

/**
 * Enter opens the first of what was found: answers come after the typing, when nothing is selected any more. `early` is
 * called where there is none yet.
 */
function openFirst(event: KeyboardEvent<HTMLInputElement>, early: () => void): void {
  if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
  const dialog = event.currentTarget.closest('[role="dialog"]');
  if (dialog?.querySelector('[data-selected]')) return;
  const first = dialog?.querySelector<HTMLElement>('.mantine-Spotlight-action');
  if (first) first.click();
  else early();
}

/** Where nothing is offered: why. */
function Nothing({ isFetching, error }: Pick<UseQueryResult, 'isFetching' | 'error'>) {
  if (isFetching) return <span role="status">Searching…</span>;
  return (
    <span role="status">
      {error ? `The search failed: ${error.message}` : 'Nothing found'}
      {error && <br />}
      {error && 'Press Enter to try again.'}
    </span>
  );
}

/** What is done at once, wherever one is, and on the page that is open. */
function useActions(onHelp: () => void): SpotlightActionData[] {
  const navigate = useNavigate();
  const mayPlan = useMay('maintenance.create');
  const { colorScheme, choose } = useScheme();
  const path = useLocation({ select: ({ pathname }) => pathname });
  const done = (label: string, description: string, onClick: () => void): SpotlightActionData => ({
    id: `do ${label}`,
    label,
    description,
    leftSection: <IconBolt size={16} aria-hidden />,
    onClick,
  });
  const dark = colorScheme !== 'dark';
  return [
    ...HERE.flatMap(({ at, to, label, description }) => {
      const id = at.exec(path)?.[1];
      return id && (mayPlan || !to(id).includes('edit=new'))
        ? [done(label, description, () => void navigate({ href: to(id) }))]
        : [];
    }),
    done('Copy the address of this page', 'to send it to somebody who may see it', () => {
      copyText(window.location.href).then(
        () => notify('Copied'),
        (error) => notifyProblem('Not copied', error),
      );
    }),
    done(dark ? 'Dark theme' : 'Light theme', 'for your account, in every browser', () =>
      choose(dark ? 'dark' : 'light'),
    ),
    done('Keyboard shortcuts', 'all keys', onHelp),
  ];
}

/** Command palette: pages and actions by name, all else by whatever is known of it. */
export const Palette = memo(function Palette({ onHelp }: { onHelp: () => void }) {
  const navigate = useNavigate();
  const manages = useMay(MANAGES);
  const lab = useHasLab();
  const [query, setQuery] = useState('');
  const text = query.trim();
  const enabled = text.length >= LEAST;
  const search = useQuery({
    ...apiQuery('search.get', { query: { q: text } }),
    // What an earlier text found is not offered meanwhile: Enter would open it.
    enabled,
    retry: 3,
    // Also where the browser says that there is no network: it fails then, rather than wait unseen.
    networkMode: 'always',
  });
  const [early, setEarly] = useState(false);
  const go = (href: string) => () => void navigate({ href });
  const hits = enabled ? (search.data?.data.hits ?? []) : [];
  const of = (wanted: SearchHit['kind']): SpotlightActionData[] =>
    hits
      .filter(({ kind }) => kind === wanted)
      .map((hit) => ({
        id: `${hit.kind} ${hit.siteId} ${hit.id}`,
        label: hit.title,
        description: hit.detail,
        leftSection: ICONS[hit.kind],
        keywords: query,
        onClick: go(addressOf(hit)),
      }));
  // As the groups below are in order.
  const first = KINDS.flatMap((kind) => hits.filter((hit) => hit.kind === kind))[0];
  useEffect(() => {
    if (!early || search.isFetching) return;
    setEarly(false);
    if (!first) return;
    spotlight.close();
    void navigate({ href: addressOf(first) });
  }, [early, first, search.isFetching, navigate]);
  const actions = useActions(onHelp);
  const pages: SpotlightActionData[] = [
    ...PLACES.watch,
    ...PLACES.run,
    ...(manages ? ADMIN_GOALS : []),
    ...(lab ? [LAB] : []),
    ...GOALS,
  ].map(({ to, label, description }) => ({
    id: to,
    label,
    description,
    leftSection: <IconArrowRight size={16} aria-hidden />,
    onClick: go(to),
  }));
  return (
    <Spotlight
      actions={[
        { group: 'Devices', actions: of('device') },
        { group: 'Endpoints', actions: of('endpoint') },
        { group: 'Interfaces', actions: of('interface') },
        { group: 'Cases', actions: of('case') },
        { group: 'Actions', actions },
        { group: 'Go to', actions: pages },
      ]}
      query={query}
      onQueryChange={(typed) => {
        setQuery(typed);
        setEarly(false);
      }}
      onSpotlightClose={() => setEarly(false)}
      nothingFound={<Nothing isFetching={search.isFetching} error={search.error} />}
      attributes={{ content: { 'aria-label': 'Search and actions' } }}
      limit={24}
      shortcut={null}
      scrollable
      maxHeight={460}
      searchProps={{
        leftSection: <IconSearch size={16} aria-hidden />,
        placeholder: 'Name, MAC or IP address, serial number, case, page',
        'aria-label': 'Search everything',
        onKeyDown: (event) =>
          openFirst(event, () => {
            setEarly(true);
            if (search.isError) void search.refetch();
          }),
      }}
    />
  );
});
