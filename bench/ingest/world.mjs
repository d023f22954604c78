// The world that the simulated collectors report: device n of a site, the same every time. `pass` 0 is the first
// discovery; from pass 1 on, every so-many-th device differs from what it was.
import { createHash } from 'node:crypto';

const hex = (n, digits) => n.toString(16).padStart(digits, '0');
const mac = (n) => (hex(n, 12).match(/../g) ?? []).join(':');
/** A UUID that belongs to a text. */
const named = (text) => {
  const h = createHash('md5').update(text).digest('hex');
  return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-8${h.slice(17, 20)}-${h.slice(20)}`;
};

const START = Date.parse('2026-11-01T00:00:00Z');

/** Observations of device `n` of `site`: one `device`, then its tables, as a collector with the profile `standard` sends them. */
export function observationsOf({ site, n, pass, at, interfaces, changedPercent }) {
  const number = site * 1_000_000 + n;
  const differs =
    pass > 0 && n % Math.round(100 / changedPercent) === pass % Math.round(100 / changedPercent);
  const walk = named(`${number}:${pass}`);
  const address = `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
  const base = 0x020000000000 + number * 256;
  const macs = Array.from({ length: interfaces }, (_, i) => mac(base + i + 1));
  const version = differs ? '17.9.4' : '17.6.3';
  const system = {
    sysDescr: `Cisco IOS Software [Cupertino], Catalyst L3 Switch Software (CAT9K_IOSXE), Version ${version}, RELEASE SOFTWARE (fc3)\r\nTechnical Support: http://www.cisco.com/techsupport`,
    sysObjectId: '1.3.6.1.4.1.9.1.2494',
    sysName: `sw-${site}-${n}.example.net`,
    sysLocation: `Building ${n % 40}, rack ${n % 7}`,
    sysContact: 'noc@example.net',
    sysServices: 6,
    sysUpTime: Math.round((at - START) / 10) + n,
  };
  const device = {
    kind: 'device',
    at,
    walk,
    address,
    rttMs: 1 + (n % 70) / 10,
    snmpVersion: 'v2c',
    system,
    engineId: `8000000903${hex(base, 12)}`,
    addresses: [address],
    macs,
    bridgeMac: mac(base),
    chassis: [
      {
        index: 1,
        class: 'chassis',
        name: 'c93xx Stack',
        model: 'C9300-24T',
        serial: `FCW${hex(number, 8).toUpperCase()}`,
        manufacturer: 'Cisco',
      },
    ],
    vendor: {},
  };
  const part = (table, rows) => ({
    kind: 'rows',
    at,
    walk,
    address,
    table,
    part: 0,
    last: true,
    complete: true,
    rows,
  });
  return [
    device,
    part(
      'interfaces',
      macs.map((physAddress, i) => ({
        ifIndex: i + 1,
        ifName: `Gi1/0/${i + 1}`,
        ifDescr: `GigabitEthernet1/0/${i + 1}`,
        ifAlias: differs && i === 0 ? `moved in pass ${pass}` : `port ${i + 1} to desk ${(n * 7 + i) % 900}`,
        ifType: 6,
        speedBps: 1_000_000_000,
        mtu: 1500,
        physAddress,
        adminStatus: 1,
        operStatus: 1 + (i % 2),
        lastChange: 1000 + i,
      })),
    ),
    part('addresses', [{ address, prefixLength: 16, ifIndex: 1, type: 'unicast' }]),
  ];
}
