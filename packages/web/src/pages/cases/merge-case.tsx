import type { CaseDetail } from '@rollcall/shared/api/incidents';
import { notify } from '../../components/feedback/index.ts';
import { PickDialog } from '../../components/form/index.ts';
import { Severity } from '../../components/show/index.ts';
import { useSend } from '../../use-action.ts';

export function MergeCase({ one, onClose }: { one: CaseDetail; onClose: () => void }) {
  const send = useSend('events', 'summary');
  return (
    <PickDialog
      title={`Merge another case into #${one.number}`}
      intro="Its events, comments and tags come here; it is closed and says where they went. Only cases of the same site."
      id={one.id}
      list="cases.list"
      query={(q) => ({ q, site: one.siteId, status: '0,1,2' })}
      label="Find the other case"
      empty="No other open case matches."
      choose="Choose a case"
      confirm={(other) => `Merge #${other.number} into #${one.number}`}
      onPick={async (other) => {
        await send('cases.merge', { params: { id: one.id }, body: { caseId: other.id } });
        notify(`#${other.number} is closed and says where its events went.`);
      }}
      onClose={onClose}
    >
      {(each) => (
        <>
          <span className="cut">
            <span className="mono quiet">#{each.number}</span> {each.title}
          </span>
          <Severity code={each.severity} word={false} />
        </>
      )}
    </PickDialog>
  );
}
