import { ActionIcon } from '@mantine/core';
import type { Topology } from '@rollcall/shared/api/interfaces';
import { IconList, IconMinus, IconPlus, IconTopologyStar3, IconZoomScan } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, lazy, Suspense, useMemo, useRef } from 'react';
import { apiQuery } from '../../api.ts';
import { useSiteChoices, useSiteName } from '../../choices.ts';
import { Empty, ProblemView } from '../../components/feedback/index.ts';
import { Filters, ViewSwitch } from '../../components/filter/index.ts';
import { Body, Page, Split } from '../../components/page/index.ts';
import type { Icon } from '../../components/show/index.ts';
import { plural } from '../../format.ts';
import { type SearchOf, type SetUrlState, useUrlState } from '../../url-state.ts';
import { LinkList } from './link-list.tsx';
import { type LoadOf, useLinkLoad } from './link-load.ts';
import type { MapHandle } from './map.tsx';
import { MapSide } from './map-side.tsx';
import { NoLinks } from './no-links.tsx';
import classes from './topology.module.css';

const NetworkMap = lazy(() => import('./map.tsx').then((module) => ({ default: module.NetworkMap })));
/** More than this is no picture any more; the list takes any number. */
const DRAWN_MOST = 6_000;
const VIEW_MODES = [
  { value: 'map', label: 'Map', icon: IconTopologyStar3 },
  { value: 'list', label: 'List', icon: IconList },
];

export function TopologyPage() {
  const { search, change } = useUrlState('/topology');
  const sites = useSiteChoices();
  const topology = useQuery(apiQuery('topology.get', { query: { site: search.site } }));
  const data = topology.data?.data;
  const found = useFound(data, search.q);
  const loadOf = useLinkLoad(search.site);
  const navigate = useNavigate();
  const openFound = (event: KeyboardEvent<HTMLElement>) => {
    const [id] = found ?? [];
    if (event.key === 'Enter' && id && event.target instanceof HTMLInputElement)
      void navigate({ to: '/devices/$id', params: { id } });
  };
  return (
    <Page
      title="Topology"
      count={data?.nodes.length}
      fill
      actions={<ViewSwitch views={VIEW_MODES} view={search.view} onChange={(view) => change({ view })} />}
    >
      <div role="none" onKeyDown={openFound}>
        <Filters
          search={search}
          // Of another site, another device.
          change={(next, replace) => change('site' in next ? { device: undefined, ...next } : next, replace)}
          filters={[
            { key: 'q', label: 'Find', placeholder: 'Name, address or class', width: 240 },
            { key: 'site', label: 'Site', choices: sites },
          ]}
        >
          {found && (
            <output className="quiet">
              {found.size > 0
                ? `${plural(found.size, 'device')} found, Enter opens the first`
                : 'No device found'}
            </output>
          )}
        </Filters>
      </div>
      {topology.error && !data ? (
        <ProblemView error={topology.error} retry={() => void topology.refetch()} />
      ) : (
        data && (
          <>
            {data.truncated && (
              <p className={classes.note}>
                There are more devices than one map takes: the first {data.nodes.length.toLocaleString('en')}{' '}
                are here. Choose a site.
              </p>
            )}
            <Split
              list={<Content topology={data} loadOf={loadOf} search={search} found={found} change={change} />}
            >
              {search.device && (
                <MapSide
                  topology={data}
                  loadOf={loadOf}
                  id={search.device}
                  onClose={() => change({ device: undefined }, true)}
                />
              )}
            </Split>
          </>
        )
      )}
      {!data && !topology.error && <Body>{null}</Body>}
    </Page>
  );
}

/** Ids of the devices that a search means; undefined without one. */
function useFound(topology: Topology | undefined, q: string | undefined): ReadonlySet<string> | undefined {
  return useMemo(() => {
    const text = q?.trim().toLowerCase();
    if (!text || !topology) return undefined;
    const fits = topology.nodes.filter((node) =>
      [node.name, node.address, node.class].some((value) => value?.toLowerCase().includes(text)),
    );
    return new Set(fits.map((node) => node.id));
  }, [topology, q]);
}

type TopologySearch = SearchOf<'/topology'>;

interface ContentProps {
  topology: Topology;
  loadOf: LoadOf;
  search: TopologySearch;
  found: ReadonlySet<string> | undefined;
  change: SetUrlState<TopologySearch>;
}

function Content({ topology, loadOf, search, found, change }: ContentProps) {
  const navigate = useNavigate();
  const siteName = useSiteName();
  const handle = useRef<MapHandle>(undefined);
  if (topology.nodes.length === 0)
    return (
      <Empty title="Nothing to draw yet">
        Links come from LLDP, CDP and forwarding tables: scan with the profile “deep”.
      </Empty>
    );
  if (search.view === 'list')
    return (
      <LinkList topology={topology} loadOf={loadOf} found={found} onPick={(device) => change({ device })} />
    );
  if (topology.nodes.length > DRAWN_MOST)
    return (
      <Empty title={`${plural(topology.nodes.length, 'device')} are too many for one picture`}>
        Choose a site, or see the links as a list.
      </Empty>
    );
  return (
    <div className={classes.frame}>
      <Suspense>
        <NetworkMap
          topology={topology}
          loadOf={loadOf}
          siteNames={siteName}
          picked={search.device}
          found={found}
          onPick={(device) => change({ device }, search.device !== undefined)}
          onOpen={(id) => void navigate({ to: '/devices/$id', params: { id } })}
          handle={handle}
        />
      </Suspense>
      {topology.links.length === 0 && topology.nodes.length > 1 && (
        <div className={`panel ${classes.unlinked}`}>
          <NoLinks />
        </div>
      )}
      <Legend />
      <div className={classes.tools}>
        {TOOLS.map(({ label, icon: Icon, use }) => (
          <ActionIcon
            key={label}
            variant="subtle"
            color="gray"
            aria-label={label}
            onClick={() => handle.current && use(handle.current)}
          >
            <Icon size={16} />
          </ActionIcon>
        ))}
      </div>
    </div>
  );
}

const TOOLS: readonly { label: string; icon: Icon; use: (map: MapHandle) => void }[] = [
  { label: 'Zoom in', icon: IconPlus, use: (map) => map.zoom(1.4) },
  { label: 'Zoom out', icon: IconMinus, use: (map) => map.zoom(1 / 1.4) },
  { label: 'Fit to view', icon: IconZoomScan, use: (map) => map.fit() },
];

const Legend = () => (
  <div className={classes.legend}>
    <span>
      <svg width="12" height="12" aria-hidden>
        <circle cx="6" cy="6" r="5" fill="var(--fill-ok)" />
      </svg>
      up
    </span>
    <span>
      <svg width="14" height="14" aria-hidden>
        <path d="M7 0 14 7 7 14 0 7Z" fill="var(--fill-bad)" />
      </svg>
      down
    </span>
    <span>
      <svg width="12" height="12" aria-hidden>
        <circle cx="6" cy="6" r="5" fill="var(--fill-idle)" />
      </svg>
      unknown
    </span>
    <span>
      <svg width="14" height="14" aria-hidden>
        <circle cx="7" cy="7" r="6" fill="none" stroke="var(--sev-3)" strokeWidth="1.4" />
        <circle cx="7" cy="7" r="3.6" fill="var(--fill-ok)" />
      </svg>
      open events
    </span>
    <span>
      <svg width="12" height="12" aria-hidden>
        <rect x="1" y="1" width="10" height="10" rx="2.5" fill="var(--fill-ok)" />
      </svg>
      network device
    </span>
    <span>
      <svg width="16" height="12" aria-hidden>
        <path d="M0 6h16" stroke="var(--sev-3)" strokeWidth="2.4" />
      </svg>
      load 50 % and more
    </span>
    <span>
      <svg width="16" height="12" aria-hidden>
        <path d="M0 6h16" stroke="var(--sev-2)" strokeWidth="3.2" />
      </svg>
      80 %
    </span>
    <span>
      <svg width="16" height="12" aria-hidden>
        <path d="M0 6h16" stroke="var(--fill-bad)" strokeWidth="2" strokeDasharray="4 3" />
      </svg>
      link down
    </span>
  </div>
);
