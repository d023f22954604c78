import { Button, Menu } from '@mantine/core';
import type { Credential } from '@rollcall/shared/api/credentials';
import { IconPencil, IconPlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useRefresh } from '../../action.ts';
import { call } from '../../api.ts';
import { Confirm } from '../../components/form.tsx';
import { Body } from '../../components/page.tsx';
import { Empty } from '../../components/problem.tsx';
import { RowMenu } from '../../components/row-menu.tsx';
import { type Column, Rows } from '../../components/rows.tsx';
import { usePages } from '../../components/source.ts';
import { Time } from '../../components/time.tsx';
import { useMay } from '../../session.tsx';
import { useSiteName } from '../../sites.ts';
import { CredentialForm } from './credential-form.tsx';
import classes from './discovery.module.css';
import type { PartProps } from './part.ts';

type Chosen = { what: 'edit' | 'delete'; credential: Credential } | { what: 'new' };

const protectionOf = (one: Credential): string => {
  if (one.version !== 'v3') return 'a community, readable on the way';
  const parts = [one.authProtocol, one.privProtocol].filter((part) => part && part !== 'none');
  return parts.length > 0 ? parts.join(' and ') : 'neither authentication nor privacy';
};

/** SNMP communities and users. Secrets go in and never come out. */
export function Credentials({ search }: PartProps) {
  const admin = useMay('admin');
  const siteName = useSiteName();
  const source = usePages('credentials.list', { site: search.site });
  const [chosen, setChosen] = useState<Chosen>();
  const close = () => setChosen(undefined);
  const columns: Column<Credential>[] = [
    {
      id: 'position',
      title: 'Order',
      width: '48px',
      numeric: true,
      value: (one) => one.position,
    },
    { id: 'name', title: 'Name', width: 'minmax(120px, 1fr)', narrow: true, value: (one) => one.name },
    { id: 'version', title: 'SNMP', width: '48px', narrow: true, value: (one) => one.version },
    { id: 'user', title: 'User', width: 'minmax(80px, 0.6fr)', value: (one) => one.user },
    { id: 'protection', title: 'Protection', width: 'minmax(150px, 1fr)', value: protectionOf },
    {
      id: 'secret',
      title: 'Secret',
      width: '120px',
      value: () => 'set',
      cell: (one) => (
        <span title="Equal for equal secrets; tells nothing else">
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
    {
      id: 'updated',
      title: 'Changed',
      width: '88px',
      value: (one) => one.updatedAt,
      cell: (one) => <Time at={one.updatedAt} />,
    },
    {
      id: 'menu',
      title: 'Actions',
      untitled: true,
      width: '28px',
      narrow: true,
      value: () => '',
      cell: (one) =>
        admin && (
          <RowMenu label={`What to do with ${one.name}`}>
            <Menu.Item
              leftSection={<IconPencil size={15} />}
              onClick={() => setChosen({ what: 'edit', credential: one })}
            >
              Change
            </Menu.Item>
            <Menu.Item
              color="var(--bad)"
              leftSection={<IconTrash size={15} />}
              onClick={() => setChosen({ what: 'delete', credential: one })}
            >
              Delete
            </Menu.Item>
          </RowMenu>
        ),
    },
  ];
  return (
    <>
      <div className={classes.bar}>
        <p>Tried in this order. Secrets are sealed on the server: they can be replaced, and never read.</p>
        {admin && (
          <Button
            variant="default"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => setChosen({ what: 'new' })}
          >
            New credential
          </Button>
        )}
      </div>
      <Body>
        <Rows
          label="Credentials"
          source={source}
          columns={columns}
          rowKey={(one) => one.id}
          empty={
            <Empty title="No credentials">Without one, scans find who is alive, and not what it is.</Empty>
          }
        />
      </Body>
      {(chosen?.what === 'new' || chosen?.what === 'edit') && (
        <CredentialForm credential={chosen.what === 'edit' ? chosen.credential : undefined} onClose={close} />
      )}
      {chosen?.what === 'delete' && <DeleteCredential credential={chosen.credential} onClose={close} />}
    </>
  );
}

function DeleteCredential({ credential, onClose }: { credential: Credential; onClose: () => void }) {
  const refresh = useRefresh();
  return (
    <Confirm
      title={`Delete the credential ${credential.name}?`}
      opened
      onClose={onClose}
      confirm="Delete"
      onConfirm={async () => {
        await call('credentials.delete', { params: { id: credential.id } });
        refresh('credentials');
      }}
    >
      Devices that only take this one can no longer be read by SNMP.
    </Confirm>
  );
}
