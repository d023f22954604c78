// BRIDGE-MIB (RFC 4188) of br0 for `pass_persist` of snmpd, which has none itself: what the kernel's bridge has learnt.
import { execFileSync } from 'node:child_process';
import { createInterface } from 'node:readline';

const ROOT = [1, 3, 6, 1, 2, 1, 17];
/** Read anew after this time. */
const KEPT_MS = 1000;
const [LEARNED, SELF] = [3, 4];

const ask = (command, ...args) =>
  JSON.parse(execFileSync(command, ['-j', ...args], { encoding: 'utf8' }) || '[]');
const octets = (mac) => mac.split(':').map((pair) => Number.parseInt(pair, 16));

/** Objects in the order of their OIDs: OID, type, value. */
function objects() {
  const [bridge] = ask('ip', 'link', 'show', 'br0');
  const ports = ask('ip', '-d', 'link', 'show', 'master', 'br0').map(({ ifname, ifindex, linkinfo }) => ({
    ...{ ifname, ifindex, number: Number(linkinfo.info_slave_data.no) },
  }));
  const numbers = new Map(ports.map(({ ifname, number }) => [ifname, number]));
  const learnt = new Map();
  for (const { mac, ifname, state, master } of ask('bridge', 'fdb', 'show', 'br', 'br0'))
    if (master === 'br0' && numbers.has(ifname))
      learnt.set(mac, [numbers.get(ifname), state === 'permanent' ? SELF : LEARNED]);
  return [
    [[1, 1, 0], 'octet', bridge.address.replaceAll(':', ' ')],
    ...ports.map(({ number, ifindex }) => [[1, 4, 1, 2, number], 'integer', ifindex]),
    ...[...learnt].flatMap(([mac, [port, status]]) => [
      [[4, 3, 1, 2, ...octets(mac)], 'integer', port],
      [[4, 3, 1, 3, ...octets(mac)], 'integer', status],
    ]),
  ]
    .map(([oid, type, value]) => [[...ROOT, ...oid], type, value])
    .sort(([a], [b]) => compare(a, b));
}

function compare(a, b) {
  const at = a.findIndex((part, i) => part !== b[i]);
  if (at < 0) return a.length - b.length;
  return at >= b.length ? 1 : a[at] - b[at];
}

let kept = [];
let readAt = Number.NEGATIVE_INFINITY;
function current() {
  if (performance.now() - readAt > KEPT_MS) [kept, readAt] = [objects(), performance.now()];
  return kept;
}

function answer(command, text) {
  const asked = text.split('.').filter(Boolean).map(Number);
  const found = current().find(([oid]) =>
    command === 'get' ? compare(oid, asked) === 0 : compare(oid, asked) > 0,
  );
  return found ? `.${found[0].join('.')}\n${found[1]}\n${found[2]}` : 'NONE';
}

let command;
for await (const line of createInterface({ input: process.stdin })) {
  if (command === undefined && line === 'PING') process.stdout.write('PONG\n');
  else if (command === undefined) command = line;
  else {
    process.stdout.write(`${answer(command, line)}\n`);
    command = undefined;
  }
}
