/** A change of an endpoint as a sentence. Pure. */
import type { EndpointPorts } from '@rollcall/shared/api/changes';

interface Side extends Partial<EndpointPorts> {
  name?: string | null;
  addresses?: string[];
  goneAt?: number | null;
}

/** Ports that are named. */
const NAMED = 3;

export function endpointMessage(mac: string, kind: string, before: unknown, after: unknown): string {
  const [was, is] = [(before ?? {}) as Side, (after ?? {}) as Side];
  const known = [is.name ?? was.name, (is.addresses ?? was.addresses)?.[0]].filter(Boolean).join(', ');
  const who = known === '' ? mac : `${mac} (${known})`;
  switch (kind) {
    case 'endpoint.moved':
      return `${who} moved from ${portsText(was)} to ${portsText(is)}`;
    case 'endpoint.removed':
      return `${who} is gone from ${portsText(was)}`;
    default:
      return `${who} ${was.goneAt == null ? 'was first seen' : 'is back'} at ${portsText(is)}`;
  }
}

function portsText({ ports = [] }: Side): string {
  if (ports.length === 0) return 'a port that is not known';
  const names = ports.map(({ device, port, ifIndex }) => `${device} ${port ?? `port ${ifIndex}`}`);
  const more = names.length > NAMED ? [`${names.length - NAMED} more`] : [];
  return [...names.slice(0, NAMED), ...more].join(' or ');
}
