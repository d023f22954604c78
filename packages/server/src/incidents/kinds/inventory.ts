/** Kinds that scans find: what of the inventory is new, gone or different. */
import { FIELD_NAMES } from '@rollcall/shared/field-names';
import { classifyAddress, parseAddress } from '@rollcall/shared/ip';
import { Severity } from '@rollcall/shared/model';
import type { ChangeOf, Part, Vlan } from '../../changes.ts';
import {
  ADMIN_DOWN,
  ADMIN_UP,
  beforeAndAfter,
  condition,
  DAY,
  declare,
  deviceSubject,
  notice,
  orNone,
  otherSettings,
  portName,
} from './kind.ts';

const fields = (after: object): string =>
  Object.keys(after)
    .map((name) => FIELD_NAMES[name] ?? name)
    .sort()
    .join(', ');

/** Vendor and model; many a model begins with its vendor. */
function make({ vendor, model }: { vendor: string | null; model: string | null }): string {
  const told = vendor !== null && model?.toLowerCase().startsWith(`${vendor.toLowerCase()} `);
  return [told ? null : vendor, model].filter(Boolean).join(' ');
}

/** A device that may share its name with the other one of the message: with where it is managed. */
const who = ({ deviceName }: { deviceName: string }, address: string | null): string =>
  address === null || deviceName === address
    ? deviceName
    : deviceName === ''
      ? `the device at ${address}`
      : `${deviceName} (${address})`;

/** Where the device is managed, if not at the address that the change is about. */
const elsewhere = (c: ChangeOf<'address.moved' | 'address.conflict'>): string | null =>
  c.address === c.after.address ? null : c.address;

const partName = ({ name, class: kind, model, serialNumber }: Part): string =>
  [name ?? kind, model, serialNumber && `(${serialNumber})`].filter(Boolean).join(' ');
const vlanName = ({ vlan, name }: Vlan): string => (name ? `${vlan} (${name})` : String(vlan));

/** Things of a message that are named; of more, how many there are. */
const NAMED = 4;
const listed = (names: readonly string[]): string =>
  names.length > NAMED
    ? `${names.slice(0, NAMED).join(', ')} and ${names.length - NAMED} more`
    : names.join(', ');

/** Link-local addresses come and go with ports: every IPv6 port makes one of its own. */
const isRouted = (address: string): boolean => {
  const parsed = parseAddress(address);
  return !parsed.ok || classifyAddress(parsed.value) !== 'link-local';
};

/** What went and what came, of a list that a device has. */
function turned(
  change: ChangeOf<'device.addresses' | 'device.hardware' | 'device.vlans'>,
  what: string,
  went: readonly string[],
  came: readonly string[],
) {
  const said = [
    came.length > 0 ? `${what} ${listed(came)} added` : '',
    went.length > 0 ? `${what} ${listed(went)} removed` : '',
  ].filter(Boolean);
  const outcome = JSON.stringify([went, came]).slice(0, 200);
  return notice(change, outcome, `${change.deviceName}: ${said.join(', ')}`);
}

export const INVENTORY_KINDS = declare({
  'device.new': {
    about: 'A device that was not known.',
    severity: Severity.info,
    source: 'discovery',
    opens: {
      'device.new': (c) => {
        const what = make(c.after) || (c.after.class === 'unknown' ? '' : c.after.class);
        return notice(c, '', `${c.deviceName} is new${what && `: ${what}`}`);
      },
    },
    expiresMs: 7 * DAY,
    cases: 'none',
  },
  'device.gone': {
    about: 'A device that several scans in a row did not find.',
    severity: Severity.warning,
    source: 'discovery',
    opens: {
      'device.gone': (c) => condition(c, `${c.deviceName} has not answered in ${c.after.missedScans} scans`),
    },
    clears: { 'device.returned': deviceSubject, 'device.up': deviceSubject },
    cases: 'none',
  },
  'device.unread': {
    about: 'A collector no longer reads a device, because reading it ended the collector again and again.',
    severity: Severity.warning,
    source: 'discovery',
    opens: {
      'device.unread': (c) => notice(c, '', `${c.deviceName || c.address} is not read: ${c.after.reason}`),
    },
    expiresMs: 2 * DAY,
    cases: 'joins',
  },
  'device.renumbered': {
    about: 'A device has another management address.',
    severity: Severity.info,
    source: 'discovery',
    opens: {
      'device.renumbered': (c) =>
        notice(
          c,
          c.after.address,
          `${c.deviceName} changed its address from ${c.before.address} to ${c.after.address}`,
        ),
    },
    expiresMs: 7 * DAY,
    cases: 'none',
  },
  'device.moved': {
    about: 'A device is behind another switch port.',
    severity: Severity.info,
    source: 'discovery',
    opens: {
      'device.moved': (c) =>
        notice(
          c,
          `${c.after.deviceId}/${c.after.ifIndex}`,
          `${c.deviceName} moved from ${c.before.port} of ${c.before.deviceName} to ${c.after.port} of ${c.after.deviceName}`,
        ),
    },
    expiresMs: 7 * DAY,
    cases: 'none',
  },
  'device.swapped': {
    about: 'The hardware was replaced: another box at the same address under the same name.',
    severity: Severity.warning,
    source: 'discovery',
    opens: {
      'device.swapped': (c) => {
        const told = c.before.serialNumber && c.after.serialNumber ? 'serialNumber' : 'macAddress';
        const [now, then] = [orNone(c.after[told]), orNone(c.before[told])];
        const what = told === 'serialNumber' ? 'serial number' : 'MAC address';
        return notice(c, now, `${c.deviceName}: hardware replaced, ${what} changed from ${then} to ${now}`);
      },
    },
    expiresMs: 7 * DAY,
    cases: 'none',
  },
  'device.upgraded': {
    about: 'Another version of the operating system, up or down.',
    severity: Severity.info,
    source: 'discovery',
    opens: {
      'device.upgraded': (c) =>
        notice(
          c,
          c.after.osVersion,
          `${c.deviceName} changed its version from ${c.before.osVersion} to ${c.after.osVersion}`,
        ),
    },
    expiresMs: 7 * DAY,
    cases: 'none',
  },
  'device.changed': {
    about: 'Another known field of a device differs.',
    severity: Severity.info,
    source: 'discovery',
    opens: {
      'device.changed': (c) =>
        notice(c, JSON.stringify(c.after).slice(0, 200), `${c.deviceName} changed: ${fields(c.after)}`),
    },
    expiresMs: 7 * DAY,
    cases: 'none',
  },
  'device.addresses': {
    about: 'Addresses of its own that a device has now, or has no longer.',
    severity: Severity.info,
    source: 'discovery',
    opens: {
      'device.addresses': (c) => {
        const [went, came] = [c.before.addresses.filter(isRouted), c.after.addresses.filter(isRouted)];
        return went.length + came.length === 0 ? null : turned(c, 'address', went, came);
      },
    },
    expiresMs: DAY,
    cases: 'none',
  },
  'device.hardware': {
    about: 'Parts that were put into a device, taken out of it, or have another version.',
    severity: Severity.info,
    source: 'discovery',
    opens: {
      'device.hardware': (c) => turned(c, 'part', c.before.parts.map(partName), c.after.parts.map(partName)),
    },
    expiresMs: DAY,
    cases: 'none',
  },
  'device.vlans': {
    about: 'VLANs that a device has now, has no longer, or has renamed.',
    severity: Severity.info,
    source: 'discovery',
    opens: {
      'device.vlans': (c) => turned(c, 'VLAN', c.before.vlans.map(vlanName), c.after.vlans.map(vlanName)),
    },
    expiresMs: DAY,
    cases: 'none',
  },
  'device.merged': {
    about:
      'Two records proved to be one device. Of one that a scan made less than 10 minutes before, neither this nor `device.new` is told.',
    severity: Severity.info,
    source: 'discovery',
    opens: {
      'device.merged': (c) =>
        notice(
          c,
          c.before.deviceId,
          `${c.deviceName} and ${c.before.name} are one device: ${c.after.reason}`,
        ),
    },
    expiresMs: 7 * DAY,
    cases: 'none',
  },
  'device.split': {
    about: 'A person said that one record is two devices.',
    severity: Severity.info,
    source: 'api',
    opens: {
      'device.split': (c) => notice(c, c.after.deviceId, `${c.after.name} was split from ${c.deviceName}`),
    },
    expiresMs: 7 * DAY,
    cases: 'none',
  },
  'interface.added': {
    about: 'An interface that was not there.',
    severity: Severity.info,
    source: 'discovery',
    opens: {
      'interface.added': (c) => ({
        subject: String(c.interfaceId),
        message: `${portName(c)} is new`,
        details: beforeAndAfter(c),
      }),
    },
    expiresMs: DAY,
    cases: 'none',
  },
  'interface.removed': {
    about: 'An interface is no longer there.',
    severity: Severity.info,
    source: 'discovery',
    opens: {
      'interface.removed': (c) => ({
        subject: String(c.interfaceId),
        message: `${portName(c)} is gone`,
        details: beforeAndAfter(c),
      }),
    },
    expiresMs: DAY,
    cases: 'none',
  },
  'interface.changed': {
    about:
      'An interface has another name, alias, description, type, MAC address, MTU or aggregate, or is in other VLANs.',
    severity: Severity.info,
    source: 'discovery',
    opens: {
      'interface.changed': (c) => {
        const { before, after } = otherSettings(c);
        if (Object.keys(after).length === 0) return null;
        return {
          subject: `${c.interfaceId}:${JSON.stringify(after).slice(0, 200)}`,
          message: `${portName(c)} changed: ${fields(after)}`,
          details: { before, after },
        };
      },
    },
    expiresMs: DAY,
    cases: 'none',
  },
  'interface.shut': {
    about: 'Somebody shut down a port, or enabled it again.',
    severity: Severity.info,
    source: 'snmp',
    opens: {
      'interface.state': (c) => {
        const [before, after] = [c.before.adminStatus, c.after.adminStatus];
        const decided = [before, after].every((side) => side === ADMIN_UP || side === ADMIN_DOWN);
        if (!decided || before === after || c.interfaceId === undefined) return null;
        return {
          subject: `${c.interfaceId}:${after}`,
          message: `${portName(c)} was ${after === ADMIN_DOWN ? 'shut down by an administrator' : 'enabled by an administrator'}`,
          details: { before: { adminStatus: before }, after: { adminStatus: after } },
        };
      },
    },
    expiresMs: DAY,
    cases: 'none',
  },
  'neighbour.changed': {
    about: 'Another neighbour on a port.',
    severity: Severity.info,
    source: 'discovery',
    opens: {
      'neighbour.changed': (c) => {
        const side = (remote: typeof c.before) =>
          'port' in remote ? remote.sysName || remote.chassisId : null;
        const at = 'port' in c.after ? c.after.port : 'port' in c.before ? c.before.port : '';
        return notice(
          c,
          `${at}:${orNone(side(c.after))}`,
          `${c.deviceName}: neighbour on ${at} changed from ${orNone(side(c.before))} to ${orNone(side(c.after))}`,
        );
      },
    },
    expiresMs: DAY,
    cases: 'none',
  },
  'address.moved': {
    about: 'An address answers as another device.',
    severity: Severity.info,
    source: 'discovery',
    opens: {
      'address.moved': (c) =>
        notice(
          c,
          `${c.after.address}:${c.after.deviceId}`,
          `${c.after.address} moved from ${c.before.deviceName} to ${who(c.after, elsewhere(c))}`,
        ),
    },
    expiresMs: DAY,
    cases: 'none',
  },
  'address.conflict': {
    about: 'Two devices claim one address.',
    severity: Severity.warning,
    source: 'discovery',
    opens: {
      'address.conflict': (c) =>
        notice(
          c,
          c.after.address,
          `${c.after.address} is claimed by ${who(c, elsewhere(c))} and ${c.before.deviceName}: ${c.after.reason}`,
        ),
    },
    expiresMs: 2 * DAY,
    // Scans tell it as long as it is so.
    sameWithinMs: 2 * DAY,
    cases: 'none',
  },
  'identity.conflict': {
    about: 'Strong evidence says both that two records are one device and that they are not.',
    severity: Severity.warning,
    source: 'discovery',
    opens: {
      'identity.conflict': (c) =>
        notice(
          c,
          `${c.before.deviceId}:${c.after.evidence}`,
          `${who(c, c.address)} and ${who(c.before, c.before.address)} may be one device: ${c.after.reason}`,
        ),
    },
    expiresMs: 7 * DAY,
    cases: 'none',
  },
});
