import type { CaseDetail } from '@rollcall/shared/api/incidents';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiQuery } from '../../api.ts';
import { notify } from '../../components/feedback/index.ts';
import { SearchBox } from '../../components/filter/index.ts';
import { Choices, FormDialog } from '../../components/form/index.ts';
import { Severity } from '../../components/show/index.ts';
import { useSend } from '../../use-action.ts';

export function MergeCase({ one, onClose }: { one: CaseDetail; onClose: () => void }) {
  const [q, setQ] = useState('');
  const [chosen, setChosen] = useState<string[]>([]);
  const send = useSend('events', 'summary');
  const found = useQuery({
    ...apiQuery('cases.list', { query: { q, site: one.siteId, status: '0,1,2', pageSize: 8 } }),
    placeholderData: keepPreviousData,
  });
  const offered = found.data?.data.filter((each) => each.id !== one.id);
  const other = offered?.find(({ id }) => chosen.includes(id));
  return (
    <FormDialog
      title={`Merge another case into #${one.number}`}
      onClose={onClose}
      size={520}
      submit={other ? `Merge #${other.number} into #${one.number}` : 'Choose a case'}
      ready={other !== undefined}
      onSubmit={async () => {
        if (!other) return;
        await send('cases.merge', { params: { id: one.id }, body: { caseId: other.id } });
        notify(`#${other.number} is closed and says where its events went.`);
      }}
    >
      <p className="quiet">
        Its events, comments and tags come here; it is closed and says where they went. Only cases of the same
        site.
      </p>
      <SearchBox label="Find the other case" value={q} onChange={setQ} width={480} />
      <Choices items={offered} chosen={chosen} onChange={setChosen} empty="No other open case fits.">
        {(each) => (
          <>
            <span className="cut">
              <span className="mono quiet">#{each.number}</span> {each.title}
            </span>
            <Severity code={each.severity} word={false} />
          </>
        )}
      </Choices>
    </FormDialog>
  );
}
