import type { EndpointPlaces } from '@rollcall/shared/api/endpoints';
import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../api.ts';
import { Empty } from '../../components/feedback/index.ts';
import { LoadedSidePanel, SidePanel } from '../../components/page/index.ts';
import { Fact, Facts, TimeFact } from '../../components/show/index.ts';
import { type Column, ShortTable, timeColumn } from '../../components/table/index.ts';
import { EndpointName, nameLabel, Place, placeText } from './columns.tsx';

/** Places over time that are shown. */
const PLACES = 50;

type Stay = EndpointPlaces['places'][number];
const STAYS: readonly Column<Stay>[] = [
  timeColumn({ id: 'from', title: 'Since', width: '84px', narrow: true, at: (stay) => stay.from }),
  timeColumn({
    id: 'to',
    title: 'Until',
    width: '84px',
    narrow: true,
    at: (stay) => stay.to,
    fallback: 'now',
  }),
  {
    id: 'place',
    title: 'Port',
    width: 'minmax(150px, 1fr)',
    narrow: true,
    wrap: true,
    value: placeText,
    cell: (stay) => (
      <span title={stay.reason}>
        <Place {...stay} />
      </span>
    ),
  },
];

/** One endpoint beside the list: whose it is, where, why there, and where it was before. */
export function EndpointSide({
  mac,
  site,
  onClose,
}: {
  mac: string;
  site: string | undefined;
  onClose: () => void;
}) {
  const found = useQuery(apiQuery('endpoints.get', { params: { mac }, query: { site } }));
  return (
    <LoadedSidePanel title={mac} query={found} onClose={onClose}>
      {({ data }) => (
        <SidePanel title={data[0]?.name ?? mac} onClose={onClose}>
          {data.map((one) => (
            <EndpointFacts key={one.siteId} endpoint={one} />
          ))}
        </SidePanel>
      )}
    </LoadedSidePanel>
  );
}

/** Further names that it has now, or had when it was there last. */
const namesBy = (from: 'dns' | 'dhcp', { sightings, lastSeen, ...shown }: EndpointPlaces): string =>
  shown.nameFrom === from
    ? ''
    : [
        ...new Set(
          sightings.flatMap(({ name, nameFrom, until }) =>
            until === lastSeen && nameFrom === from && name ? [name] : [],
          ),
        ),
      ].join(', ');

function EndpointFacts({ endpoint }: { endpoint: EndpointPlaces }) {
  const { maker, addresses, placement, places, firstSeen, lastSeen } = endpoint;
  return (
    <>
      <Facts>
        <Fact name="MAC address">
          <span className="mono">{endpoint.mac}</span>
        </Fact>
        <Fact name={nameLabel(endpoint)}>
          <EndpointName {...endpoint} />
        </Fact>
        <Fact name="Vendor">
          {maker ?? (endpoint.locallyAdministered === 1 ? 'none: the address is locally administered' : null)}
        </Fact>
        <Fact name="IP address">{addresses.join(', ')}</Fact>
        <Fact name="Reverse DNS">{namesBy('dns', endpoint)}</Fact>
        <Fact name="DHCP">{namesBy('dhcp', endpoint)}</Fact>
        <Fact name="Site">{endpoint.site}</Fact>
        <Fact name="Port">
          <Place {...placement} />
        </Fact>
        <Fact name="Why this port">{placement.reason}</Fact>
        <TimeFact name="First seen" at={firstSeen} />
        <TimeFact name="Gone since" at={lastSeen} />
      </Facts>
      <ShortTable
        label="Earlier locations"
        items={places.slice(0, PLACES)}
        columns={STAYS}
        rowKey={(stay) => String(stay.from)}
        empty={<Empty title="No forwarding table had it" />}
      />
    </>
  );
}
