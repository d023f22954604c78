import type { CaseDetail } from '@rollcall/shared/api/incidents';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { apiQuery } from '../../api.ts';
import { Fact } from '../../components/show/index.ts';
import { devicesBehind } from '../topology/graph.ts';
import { behindText, type Course, impactText, isRootDown } from './course.ts';

/** Whom the trouble hits: devices that are told down, and all that the map has behind a root that is down. */
export function Impact({ one, course }: { one: CaseDetail; course: Course }) {
  const { siteId: site, rootDeviceId: root } = one;
  const { data } = useQuery({
    ...apiQuery('topology.get', { query: { site } }),
    enabled: isRootDown(one),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const behind = useMemo(
    () => (data && root !== null ? devicesBehind(data.data.nodes, data.data.links, root) : []),
    [data, root],
  );
  const told = impactText(course);
  if (told === '' && behind.length === 0) return null;
  return (
    <Fact name="Impact">
      {told}
      {root !== null && behind.length > 0 && (
        <div>
          <Link to="/topology" search={{ device: root }}>
            {behindText(behind)}
          </Link>
        </div>
      )}
    </Fact>
  );
}
