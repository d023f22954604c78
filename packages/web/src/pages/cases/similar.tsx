import type { CaseDetail } from '@rollcall/shared/api/incidents';
import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../api.ts';
import { EntriesPanel, Entry } from '../../components/page/index.ts';
import { CaseLink, CaseStatus, Time } from '../../components/show/index.ts';

/** Cases that are shown. */
const SHOWN = 5;

/** Other cases that name the same device, the last that was worked on first: what helped then may help now. */
export function SimilarCases({ one }: { one: CaseDetail }) {
  const root = useQuery({
    ...apiQuery('devices.get', { params: { id: one.rootDeviceId ?? '' } }),
    enabled: one.rootDeviceId !== null,
    retry: false,
  });
  const name = root.data?.data.name;
  const found = useQuery({
    ...apiQuery('cases.list', {
      query: { site: one.siteId, q: name, status: '2,3', sort: '-updatedAt', pageSize: SHOWN + 1 },
    }),
    enabled: name !== undefined,
  });
  const others = found.data && {
    ...found,
    data: { ...found.data, data: found.data.data.filter(({ id }) => id !== one.id).slice(0, SHOWN) },
  };
  if (!others) return null;
  return (
    <EntriesPanel title="Earlier cases" note={`that name ${name}`} query={others as typeof found}>
      {(other) => (
        <Entry
          key={other.id}
          end={
            <>
              <CaseStatus status={other.status} />
              <Time at={other.resolvedAt ?? other.updatedAt} />
            </>
          }
        >
          <CaseLink id={other.id} className="plain">
            #{other.number} {other.title}
          </CaseLink>
        </Entry>
      )}
    </EntriesPanel>
  );
}
