import type { AuditEntry } from '@rollcall/shared/api/accounts';
import { useCallback, useMemo, useState } from 'react';
import { useSiteChoices, useSiteName } from '../choices.ts';
import { Empty } from '../components/feedback/index.ts';
import { Filters, rangeOf } from '../components/filter/index.ts';
import { ExportMenu } from '../components/list/index.ts';
import { Page, SidePanel, Split } from '../components/page/index.ts';
import { Changed, Fact, Facts, fieldName, TimeFact, Value } from '../components/show/index.ts';
import { type Column, timeColumn, usePagedList, VirtualTable } from '../components/table/index.ts';
import { useUrlState } from '../url-state.ts';

const COLUMNS: readonly Column<AuditEntry>[] = [
  timeColumn({ id: 'at', title: 'When', width: '96px', narrow: true, at: (one) => one.at }),
  { id: 'actor', title: 'Who', width: 'minmax(90px, 0.5fr)', narrow: true },
  { id: 'action', title: 'What', width: 'minmax(130px, 0.7fr)', narrow: true, mono: true },
  { id: 'subject', title: 'Subject', width: 'minmax(160px, 1.6fr)' },
  { id: 'address', title: 'IP address', width: 'minmax(110px, 0.5fr)', mono: true },
];

/** Who did what: sign-ins, tokens, roles, credentials, collectors. */
export function Audit() {
  const { search, change } = useUrlState('/audit');
  const sites = useSiteChoices();
  const [picked, setPicked] = useState<AuditEntry>();
  const { last, from, to, actor, action, site } = search;
  const range = useMemo(() => rangeOf({ last, from, to }, Date.now()), [last, from, to]);
  const query = { actor, action, site, ...range };
  const source = usePagedList('audit.list', query);
  const close = useCallback(() => setPicked(undefined), []);
  return (
    <Page
      title="Audit"
      count={source.total}
      fill
      actions={<ExportMenu id="audit.list" query={query} columns={COLUMNS} name="audit" />}
    >
      <Filters
        search={search}
        change={change}
        filters={[
          { key: 'actor', label: 'Who', placeholder: 'Who: exact name', width: 170 },
          { key: 'action', label: 'What', placeholder: 'What: token, token.create', width: 210 },
          { key: 'site', label: 'Site', choices: sites },
        ]}
        range
      />
      <Split
        list={
          <VirtualTable
            label="Audit log"
            source={source}
            columns={COLUMNS}
            onOpen={setPicked}
            empty={<Empty title="No entry matches" />}
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
    <SidePanel title={`${entry.actor}: ${entry.action}`} onClose={onClose}>
      <Facts>
        <TimeFact name="When" at={entry.at} />
        <Fact name="Who">{entry.actor}</Fact>
        <Fact name="What">{entry.action}</Fact>
        <Fact name="Subject">{entry.subject}</Fact>
        <Fact name="Site">{entry.siteId && siteName(entry.siteId)}</Fact>
        <Fact name="IP address">{entry.address}</Fact>
        {Object.entries(detail).map(([name, value]) => (
          <Fact key={name} name={fieldName(name)}>
            <Value name={name} value={value} />
          </Fact>
        ))}
      </Facts>
      <Changed before={before} after={after} />
    </SidePanel>
  );
}
