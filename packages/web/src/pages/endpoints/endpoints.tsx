import { Button } from '@mantine/core';
import { useCallback } from 'react';
import { useSiteChoices } from '../../choices.ts';
import { Empty } from '../../components/feedback/index.ts';
import { Filters, Views } from '../../components/filter/index.ts';
import { ExportMenu } from '../../components/list/index.ts';
import { Page, Split } from '../../components/page/index.ts';
import { usePagedList, VirtualTable } from '../../components/table/index.ts';
import { useUrlState } from '../../url-state.ts';
import { COLUMNS_BESIDE, ENDPOINT_COLUMNS } from './columns.tsx';
import { EndpointSide } from './endpoint.tsx';

const CURRENT = [
  { value: '1', label: 'present' },
  { value: '0', label: 'gone' },
];
const VIEWS = [
  { name: 'Present', search: { current: '1' } },
  { name: 'New', search: { current: '1', sort: '-firstSeen' } },
  { name: 'Gone', search: { current: '0', sort: '-lastSeen' } },
  { name: 'All', search: {} },
];

/** Which MAC address is on which port, now and before. */
export function Endpoints() {
  const { search, change } = useUrlState('/endpoints');
  const sites = useSiteChoices();
  const { endpoint: picked, in: inSite, ...query } = search;
  const source = usePagedList('endpoints.list', query);
  const close = useCallback(() => change({ endpoint: undefined, in: undefined }, true), [change]);
  const ofPort = query.interface ?? query.device;
  return (
    <Page
      title="Endpoints"
      count={source.total}
      fill
      actions={<ExportMenu id="endpoints.list" query={query} columns={ENDPOINT_COLUMNS} name="endpoints" />}
    >
      <Filters
        search={search}
        change={change}
        filters={[
          {
            key: 'search',
            label: 'Search',
            placeholder: 'Part of a MAC or IP address, name, vendor',
            width: 280,
          },
          { key: 'ip', label: 'IP address', placeholder: '10.20.0.17', width: 130 },
          { key: 'vlan', label: 'VLAN', placeholder: 'VLAN', width: 80 },
          { key: 'current', label: 'State', choices: CURRENT },
          { key: 'site', label: 'Site', choices: sites },
        ]}
      >
        {ofPort && (
          <Button
            variant="light"
            onClick={() => change({ interface: undefined, device: undefined })}
            title="Show all"
          >
            Learnt by one {query.interface ? 'port' : 'device'} ✕
          </Button>
        )}
      </Filters>
      <Views list="endpoints" search={query} builtIn={VIEWS} />
      <Split
        list={
          <VirtualTable
            label="Endpoints"
            source={source}
            columns={picked ? COLUMNS_BESIDE : ENDPOINT_COLUMNS}
            sort={search.sort ?? 'mac'}
            onSort={(sort) => change({ sort })}
            onOpen={(one) => change({ endpoint: one.mac, in: one.siteId }, picked !== undefined)}
            empty={
              <Empty title="No endpoint matches">
                Endpoints come from forwarding and ARP tables. They are read of monitored switches and
                routers, and by scans with the profile “deep”.
              </Empty>
            }
          />
        }
      >
        {picked && <EndpointSide mac={picked} site={inSite} onClose={close} />}
      </Split>
    </Page>
  );
}
