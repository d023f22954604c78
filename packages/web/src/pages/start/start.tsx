import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../api.ts';
import { Empty, Loaded } from '../../components/feedback/index.ts';
import { Page } from '../../components/page/index.ts';
import { useMay } from '../../session.tsx';
import { Guide } from './guide.tsx';

/** The first steps of an installation. */
export function StartPage() {
  const setsUp = useMay('sites.create');
  const summary = useQuery(apiQuery('summary.get', { query: {} }));
  return (
    <Page title="First steps">
      {setsUp ? (
        <Loaded query={summary}>{({ data }) => <Guide summary={data} />}</Loaded>
      ) : (
        <Empty title="For administrators">Administrators set up sites, credentials and accounts.</Empty>
      )}
    </Page>
  );
}
