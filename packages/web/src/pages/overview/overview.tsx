import type { Summary } from '@rollcall/shared/api/service';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { apiQuery } from '../../api.ts';
import { useSiteChoices } from '../../choices.ts';
import { Loaded } from '../../components/feedback/index.ts';
import { ChoiceFilter } from '../../components/filter/index.ts';
import { Page, Panel } from '../../components/page/index.ts';
import { Bar, DeviceClassLabel, Severity } from '../../components/show/index.ts';
import { type Column, ShortTable } from '../../components/table/index.ts';
import { count } from '../../format.ts';
import { splitCodes, textOf } from '../../search.ts';
import { useMay } from '../../session.tsx';
import { useUrlState } from '../../url-state.ts';
import { Guide } from '../start/guide.tsx';
import { Figures, healthParts, isUnmonitored } from './figures.tsx';
import classes from './overview.module.css';
import { Changes, CollectorsPanel, OpenEvents, Scans } from './panels.tsx';
import { Top } from './top.tsx';

export function Overview() {
  const {
    search: { site },
  } = useUrlState('/');
  const navigate = useNavigate({ from: '/' });
  const sites = useSiteChoices();
  const summary = useQuery(apiQuery('summary.get', { query: { site } }));
  const setsUp = useMay('sites.create');
  const name = sites.find((one) => one.value === site)?.label;
  return (
    <Page
      title={name ? `Overview of ${name}` : 'Overview'}
      actions={
        sites.length > 1 && (
          <ChoiceFilter
            label="Site"
            choices={sites}
            value={splitCodes(site)}
            onChange={(value) => void navigate({ search: (old) => ({ ...old, site: textOf(value) }) })}
          />
        )
      }
    >
      <Loaded query={summary}>
        {({ data }) => (
          <>
            {setsUp && !site && data.devices.monitored === 0 && <Guide summary={data} />}
            <Figures summary={data} site={site} />
            <div className={`columns ${classes.grid}`}>
              <div className="stack">
                {!site && data.sites.length > 1 && <Sites sites={data.sites} />}
                <OpenEvents site={site} monitored={data.devices.monitored > 0} />
                {!isUnmonitored(data) && <Top site={site} />}
                <Classes summary={data} site={site} />
              </div>
              <div className="stack">
                <Scans site={site} />
                <Changes site={site} />
                <CollectorsPanel site={site} />
              </div>
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

type SiteHealth = Summary['sites'][number];
const worseFirst = (a: SiteHealth, b: SiteHealth): number =>
  (a.worstSeverity ?? 9) - (b.worstSeverity ?? 9) || b.openEvents - a.openEvents;

const SITE_COLUMNS: readonly Column<SiteHealth>[] = [
  {
    id: 'worst',
    title: 'Worst event',
    untitled: true,
    width: '16px',
    narrow: true,
    value: (site) => site.worstSeverity,
    cell: (site) => site.worstSeverity && <Severity code={site.worstSeverity} word={false} />,
  },
  {
    id: 'name',
    title: 'Site',
    width: 'minmax(96px, 1fr)',
    narrow: true,
    value: (site) => site.name,
    cell: (site) => (
      <Link to="/" search={{ site: site.id }} className="plain">
        {site.name}
      </Link>
    ),
  },
  {
    id: 'health',
    title: 'Devices',
    width: 'minmax(60px, 1.6fr)',
    narrow: true,
    value: (site) => site.devices.up,
    cell: (site) => <Bar parts={healthParts(site.devices)} />,
  },
  { id: 'up', title: 'Up', width: '46px', numeric: true, value: (site) => count(site.devices.up) },
  {
    id: 'down',
    title: 'Down',
    width: '46px',
    numeric: true,
    narrow: true,
    value: (site) => site.devices.down || '',
  },
  {
    id: 'unknown',
    title: 'Unknown',
    width: '66px',
    numeric: true,
    value: (site) => site.devices.unknown || '',
  },
  { id: 'events', title: 'Events', width: '50px', numeric: true, value: (site) => site.openEvents || '' },
  { id: 'cases', title: 'Cases', width: '46px', numeric: true, value: (site) => site.openCases || '' },
  {
    id: 'collectors',
    title: 'Collectors',
    width: '74px',
    numeric: true,
    value: (site) => `${site.collectors.online} of ${site.collectors.online + site.collectors.offline}`,
  },
];

function Sites({ sites }: { sites: readonly SiteHealth[] }) {
  const navigate = useNavigate();
  return (
    <Panel title="Sites" note="worst first" end={<Link to="/topology">Map</Link>}>
      <ShortTable
        label="Sites"
        items={sites.toSorted(worseFirst)}
        columns={SITE_COLUMNS}
        onOpen={(site) => void navigate({ to: '/', search: { site: site.id } })}
      />
    </Panel>
  );
}

function Classes({ summary, site }: { summary: Summary; site: string | undefined }) {
  const most = Math.max(1, ...summary.classes.map((one) => one.count));
  const columns: readonly Column<Summary['classes'][number]>[] = [
    {
      id: 'class',
      title: 'Class',
      width: '140px',
      narrow: true,
      cell: (one) => (
        <Link to="/devices" search={{ class: one.class, ...(site && { site }) }} className="plain">
          <DeviceClassLabel class={one.class} />
        </Link>
      ),
    },
    {
      id: 'bar',
      title: 'Share',
      untitled: true,
      width: '1fr',
      narrow: true,
      value: (one) => one.count,
      cell: (one) => (
        <span
          aria-hidden
          style={{
            display: 'block',
            width: `${(one.count / most) * 100}%`,
            height: 8,
            borderRadius: 4,
            background: 'var(--fill-idle)',
          }}
        />
      ),
    },
    {
      id: 'count',
      title: 'Devices',
      width: '60px',
      narrow: true,
      numeric: true,
      value: (one) => count(one.count),
    },
  ];
  if (summary.classes.length === 0) return null;
  return (
    <Panel title="Devices by class">
      <ShortTable
        label="Classes"
        items={summary.classes.slice(0, 8)}
        columns={columns}
        rowKey={(one) => one.class}
      />
    </Panel>
  );
}
