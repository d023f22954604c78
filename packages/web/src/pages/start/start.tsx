import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../api.ts';
import { Empty, Loaded } from '../../components/feedback/index.ts';
import { Page } from '../../components/page/index.ts';
import { useHasRole } from '../../session.tsx';
import { Guide } from './guide.tsx';

/** The first steps of an installation. */
export function StartPage() {
  const admin = useHasRole('admin');
  const summary = useQuery(apiQuery('summary.get', { query: {} }));
  return (
    <Page title="First steps">
      {admin ? (
        <Loaded query={summary}>{({ data }) => <Guide summary={data} />}</Loaded>
      ) : (
        <Empty title="For administrators">They set up sites, credentials and people.</Empty>
      )}
    </Page>
  );
}
