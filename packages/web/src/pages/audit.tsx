import { Button } from '@mantine/core';
import type { AuditEntry } from '@rollcall/shared/api/accounts';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { Changed, valueText } from '../components/changed.tsx';
import { Facts } from '../components/facts.tsx';
import { Page } from '../components/page.tsx';
import { Pick } from '../components/pick.tsx';
import { Empty } from '../components/problem.tsx';
import { type Column, Rows } from '../components/rows.tsx';
import { SearchBox } from '../components/search-box.tsx';
import { Side, Split } from '../components/side.tsx';
import { usePages } from '../components/source.ts';
import { TakeAway } from '../components/take-away.tsx';
import { Time } from '../components/time.tsx';
import { rangeOf, TimeRange } from '../components/time-range.tsx';
import { listOf, textOf } from '../search.ts';
import { useSiteChoices, useSiteName } from '../sites.ts';

const route = getRouteApi('/audit');

const COLUMNS: readonly Column<AuditEntry>[] = [
  {
    id: 'at',
    title: 'When',
    width: '96px',
    narrow: true,
    value: (one) => new Date(one.at * 1000).toISOString(),
    cell: (one) => <Time at={one.at} />,
  },
  { id: 'actor', title: 'Who', width: 'minmax(90px, 0.5fr)', narrow: true, value: (one) => one.actor },
  {
    id: 'action',
    title: 'What',
    width: 'minmax(130px, 0.7fr)',
    narrow: true,
    value: (one) => one.action,
    cell: (one) => <span className="mono">{one.action}</span>,
  },
  { id: 'subject', title: 'To what', width: 'minmax(160px, 1.6fr)', value: (one) => one.subject },
  {
    id: 'address',
    title: 'From',
    width: 'minmax(110px, 0.5fr)',
    value: (one) => one.address,
    cell: (one) => <span className="mono">{one.address}</span>,
  },
];

/** Who did what: sign-ins, tokens, roles, credentials, collectors. */
export function Audit() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: '/audit' });
  const sites = useSiteChoices();
  const [picked, setPicked] = useState<AuditEntry>();
  const { last, from, to, actor, action, site } = search;
  const range = useMemo(() => rangeOf({ last, from, to }, Date.now()), [last, from, to]);
  const query = { actor, action, site, ...range };
  const source = usePages('audit.list', query);
  const change = (next: typeof search, replace = false) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace });
  const close = useCallback(() => setPicked(undefined), []);
  return (
    <Page
      title="Audit"
      count={source.total}
      fill
      actions={<TakeAway id="audit.list" query={query} columns={COLUMNS} name="audit" />}
      filters={
        <>
          <SearchBox
            label="Who"
            placeholder="Who: exact name"
            width={170}
            main
            value={actor ?? ''}
            onChange={(text) => change({ actor: text || undefined }, true)}
          />
          <SearchBox
            label="What"
            placeholder="What: token, token.create"
            width={210}
            value={action ?? ''}
            onChange={(text) => change({ action: text || undefined }, true)}
          />
          <Pick
            label="Site"
            choices={sites}
            value={listOf(site)}
            onChange={(value) => change({ site: textOf(value) })}
          />
          <TimeRange search={{ last, from, to }} onChange={(next) => change(next)} />
          {[last, from, to, actor, action, site].some(Boolean) && (
            <Button
              variant="subtle"
              onClick={() =>
                change({
                  last: undefined,
                  from: undefined,
                  to: undefined,
                  actor: undefined,
                  action: undefined,
                  site: undefined,
                })
              }
            >
              Clear
            </Button>
          )}
        </>
      }
    >
      <Split
        list={
          <Rows
            label="Audit log"
            source={source}
            columns={COLUMNS}
            onOpen={setPicked}
            rowKey={(one) => one.id}
            empty={<Empty title="Nothing fits" />}
          />
        }
      >
        {picked && <Entry entry={picked} onClose={close} />}
      </Split>
    </Page>
  );
}

function Entry({ entry, onClose }: { entry: AuditEntry; onClose: () => void }) {
  const siteName = useSiteName();
  const { before, after, ...detail } = entry.detail;
  return (
    <Side title={`${entry.actor}: ${entry.action}`} onClose={onClose}>
      <Facts
        facts={[
          ['When', <Time key="at" at={entry.at} />],
          ['Who', entry.actor],
          ['What', entry.action],
          ['To what', entry.subject],
          ['Site', entry.siteId && siteName(entry.siteId)],
          ['From', entry.address],
          ...Object.entries(detail).map(([name, value]) => [name, valueText(value)] as const),
        ]}
      />
      <Changed before={before} after={after} />
    </Side>
  );
}
