import type { Credential } from '@rollcall/shared/api/credentials';
import { useSiteName } from '../../choices.ts';
import { Empty } from '../../components/feedback/index.ts';
import { Collection, NewButton } from '../../components/list/index.ts';
import { type Column, timeColumn, usePagedList } from '../../components/table/index.ts';
import { useMay } from '../../session.tsx';
import type { UrlState } from '../../url-state.ts';
import { AUTHENTICATION, PRIVACY } from './choices.ts';
import { CredentialForm } from './credential-form.tsx';

const protectionOf = (one: Credential): string => {
  if (one.version !== 'v3') return 'none, clear text';
  const [auth, priv] = [one.authProtocol ?? 'none', one.privProtocol ?? 'none'];
  if (auth === 'none') return 'none, no authentication';
  return priv === 'none'
    ? `${AUTHENTICATION[auth]}, no privacy`
    : `${AUTHENTICATION[auth]} and ${PRIVACY[priv]}`;
};

/** SNMP communities and users. Secrets go in and never come out. */
export function Credentials({ search, change }: UrlState<'/discovery'>) {
  const may = useMay('credentials.create');
  const siteName = useSiteName();
  const source = usePagedList('credentials.list', { site: search.site });
  const columns: Column<Credential>[] = [
    { id: 'position', title: 'Order', width: '48px', numeric: true },
    { id: 'name', title: 'Name', width: 'minmax(120px, 1fr)', narrow: true },
    { id: 'version', title: 'SNMP', width: '48px', narrow: true },
    { id: 'user', title: 'User', width: 'minmax(80px, 0.6fr)' },
    { id: 'protection', title: 'Protection', width: 'minmax(150px, 1fr)', value: protectionOf },
    {
      id: 'secret',
      title: 'Secret',
      width: '120px',
      value: () => 'set',
      cell: (one) => (
        <span title="Fingerprint: equal secrets have the same one">
          set <span className="mono quiet">{one.fingerprint}</span>
        </span>
      ),
    },
    {
      id: 'sites',
      title: 'Used at',
      width: 'minmax(100px, 1fr)',
      value: (one) => (one.allSites ? 'all sites' : one.siteIds.map(siteName).join(', ')),
    },
    timeColumn({ id: 'updated', title: 'Changed', at: (one) => one.updatedAt }),
  ];
  return (
    <>
      <div className="strip">
        <p>Tried in this order. Secrets are stored encrypted: they can be replaced, never read.</p>
        {may && (
          <NewButton change={change} variant="default">
            New credential
          </NewButton>
        )}
      </div>
      <Collection
        kind="credentials"
        label="Credentials"
        source={source}
        columns={columns}
        search={search}
        change={change}
        may={may}
        form={(props) => <CredentialForm {...props} />}
        lost={() => 'Devices that only take this one can no longer be read by SNMP.'}
        empty={
          <Empty title="No credentials">
            Without one, scans find which addresses answer, but not what they are.
          </Empty>
        }
      />
    </>
  );
}
