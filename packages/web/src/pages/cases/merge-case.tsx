import type { CaseDetail } from '@rollcall/shared/api/incidents';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useRefresh } from '../../action.ts';
import { ask, call } from '../../api.ts';
import choices from '../../components/choices.module.css';
import { FormDialog } from '../../components/form.tsx';
import { Severity } from '../../components/mark.tsx';
import { say } from '../../components/problem.tsx';
import { SearchBox } from '../../components/search-box.tsx';

export function MergeCase({ one, onClose }: { one: CaseDetail; onClose: () => void }) {
  const [q, setQ] = useState('');
  const [other, setOther] = useState<{ id: string; number: number }>();
  const refresh = useRefresh();
  const found = useQuery({
    ...ask('cases.list', { query: { q, site: one.siteId, status: '0,1,2', pageSize: 8 } }),
    placeholderData: keepPreviousData,
  });
  const offered = (found.data?.data ?? []).filter((each) => each.id !== one.id);
  return (
    <FormDialog
      title={`Merge another case into #${one.number}`}
      opened
      onClose={onClose}
      size={520}
      submit={other ? `Merge #${other.number} into #${one.number}` : 'Choose a case'}
      ready={other !== undefined}
      onSubmit={async () => {
        if (!other) return;
        await call('cases.merge', { params: { id: one.id }, body: { caseId: other.id } });
        refresh('cases', 'events', 'summary');
        say(`#${other.number} is closed and says where its events went.`);
      }}
    >
      <p className="quiet">
        Its events, comments and tags come here; it is closed and says where they went. Only cases of the same
        site.
      </p>
      <SearchBox label="Find the other case" value={q} onChange={setQ} width={480} />
      <ul className={choices.choices}>
        {offered.map((each) => (
          <li key={each.id}>
            <label data-on={other?.id === each.id || undefined}>
              <input
                type="radio"
                name="other"
                checked={other?.id === each.id}
                onChange={() => setOther({ id: each.id, number: each.number })}
              />
              <span className="cut">
                <span className="mono quiet">#{each.number}</span> {each.title}
              </span>
              <Severity code={each.severity} word={false} />
            </label>
          </li>
        ))}
        {found.data && offered.length === 0 && <li className="quiet">No other open case fits.</li>}
      </ul>
    </FormDialog>
  );
}
