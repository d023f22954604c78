// discover-entry.mjs TARGETS TRIES TIMEOUT_MS
// The collector's first contact by SNMP and nothing around it, at full speed: one JSON line per agent that answered with
// its system group, and a summary on standard error.
import { closeSync, openSync, writeSync } from 'node:fs';
import { AddressSpace } from '../../packages/shared/dist/address-space.js';
import { systemClock } from '../../packages/shared/dist/clock.js';
import { Secret } from '../../packages/shared/dist/secret.js';
import { parseTargets } from '../../packages/shared/dist/targets.js';
import { discover } from '../../packages/snmp/dist/discover.js';
import { SnmpEngine } from '../../packages/snmp/dist/engine/engine.js';

const [targets = '', tries = '2', timeoutMs = '1000'] = process.argv.slice(2);
const parsed = parseTargets(targets, { allowLoopback: true });
if (!parsed.ok) {
  console.error(parsed.problems);
  process.exit(2);
}
const space = new AddressSpace(parsed.targets.ranges);
function* candidates() {
  for (let index = 0; index < space.size; index += 1) yield { address: space.at(index) };
}
const out = openSync('/dev/stdout', 'w');
let text = '';
let answered = 0;
const started = performance.now();
const engine = await SnmpEngine.open({ clock: systemClock });
await discover(
  engine,
  candidates(),
  {
    tries: Number(tries),
    timeoutMs: Number(timeoutMs),
    port: 161,
    credentials: [{ id: 'bench', version: 'v2c', community: new Secret('public') }],
    attempts: { left: () => 1, spend: () => undefined, accepted: () => undefined },
  },
  (found) => {
    if (found.outcome !== 'snmp') return;
    answered += 1;
    const { sysName, sysDescr, sysObjectId, sysUpTime } = found.system;
    const { address, outcome } = found;
    text += `${JSON.stringify({ address, outcome, sysName: `${sysName}`, sysDescr: `${sysDescr}`, sysObjectId, sysUpTime })}\n`;
  },
);
const sweepMs = performance.now() - started;
writeSync(out, text);
closeSync(out);
console.error(JSON.stringify({ sweepMs, answered, ...engine.stats() }));
await engine.close();
