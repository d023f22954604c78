import type { Change } from '@rollcall/shared/api/changes';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** Leads to one thing by its id; `className="plain"` where it should look like the words around it. */
interface To {
  id: string;
  className?: string;
  title?: string;
  children: ReactNode;
}

export const CaseLink = ({ id, ...link }: To & { draggable?: boolean }) => (
  <Link to="/cases/$id" params={{ id }} {...link} />
);
export const CollectorLink = ({ id, ...link }: To) => (
  <Link to="/collectors" search={{ collector: id }} {...link} />
);
export const ScanLink = ({ id, ...link }: To) => <Link to="/discovery/scans/$id" params={{ id }} {...link} />;
/** `among`: the filters of the list that it is shown beside. */
export const EventLink = ({ id, among, ...link }: To & { among?: Record<string, string> }) => (
  <Link to="/events" search={{ ...among, event: id }} {...link} />
);
/** Leads to what a change is about: of an endpoint there is no event. */
export const ChangeLink = ({
  change: { id, endpoint, siteId },
  ...link
}: Omit<To, 'id'> & { change: Pick<Change, 'id' | 'endpoint' | 'siteId'> }) =>
  endpoint === null ? (
    <EventLink id={id} {...link} />
  ) : (
    <Link to="/endpoints" search={{ endpoint, in: siteId }} {...link} />
  );
