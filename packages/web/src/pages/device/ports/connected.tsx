import type { NetworkInterface } from '@rollcall/shared/api/interfaces';
import { FAR_END_WORDS } from '@rollcall/shared/far-end';
import { Link } from '@tanstack/react-router';
import { DeviceLink } from '../../../components/show/index.ts';
import { plural } from '../../../format.ts';

type Port = Pick<NetworkInterface, 'id' | 'neighbour' | 'endpoints'>;
type Shown = NetworkInterface['endpoints']['shown'][number];

/** Endpoints that are named one by one; of more, how many there are. */
const NAMED = 2;

const wordsOf = ({ name, address, mac }: Shown): string => name ?? address ?? mac;
const tooMany = (count: number): string =>
  count >= 1000 ? '1,000 addresses or more' : plural(count, 'address', 'addresses');

/** What it is, where its name does not lead to a device of the inventory, and how much is behind it. */
function wordsAbout({ neighbour, endpoints }: Omit<Port, 'id'>): string {
  if (!neighbour?.kind || neighbour.deviceId) return '';
  // One of them is the neighbour's own; from 1,000 on nobody counted.
  const behind = endpoints.count >= 1000 ? endpoints.count : endpoints.count - 1;
  const kind = FAR_END_WORDS[neighbour.kind];
  return behind > 0 ? `${kind}, ${tooMany(behind)} behind it` : kind;
}

/** What is plugged in, as text. */
export function connectedText({ neighbour, endpoints }: Omit<Port, 'id'>): string {
  if (neighbour)
    return [neighbour.name, neighbour.port, wordsAbout({ neighbour, endpoints })].filter(Boolean).join(' ');
  if (endpoints.count > NAMED) return tooMany(endpoints.count);
  return endpoints.shown.map((each) => [wordsOf(each), each.maker].filter(Boolean).join(' ')).join(', ');
}

/** What is plugged in: the far end of a link, else the endpoints that the port has learnt. */
export function Connected({ port }: { port: Port }) {
  const { neighbour, endpoints } = port;
  if (neighbour)
    return (
      <>
        {neighbour.deviceId ? (
          <DeviceLink id={neighbour.deviceId}>{neighbour.name}</DeviceLink>
        ) : (
          neighbour.name
        )}{' '}
        <span className="quiet">
          {neighbour.port} {wordsAbout(port)}
        </span>
      </>
    );
  if (endpoints.count > NAMED)
    return (
      <Link to="/endpoints" search={{ interface: port.id, current: '1' }} className="plain">
        {tooMany(endpoints.count)}
      </Link>
    );
  return endpoints.shown.map((each, i) => (
    <span key={each.mac}>
      {i > 0 && ', '}
      {each.deviceId ? (
        <DeviceLink id={each.deviceId}>{each.name}</DeviceLink>
      ) : (
        <Link to="/endpoints" search={{ mac: each.mac, endpoint: each.mac }} className="plain mono">
          {wordsOf(each)}
        </Link>
      )}
      {each.maker && <span className="quiet"> {each.maker}</span>}
    </span>
  ));
}
