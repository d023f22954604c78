// inventory-entry.mjs ADDRESS
// The inventory of one device as a collector takes it that has been running for a while: read three times over, the
// last of them timed. Prints the address when all came; a summary on standard error.
import { takeInventory } from '../../packages/collector/dist/walk/inventory.js';
import { systemClock } from '../../packages/shared/dist/clock.js';
import { BUILT_IN_PROFILES } from '../../packages/shared/dist/profile.js';
import { Secret } from '../../packages/shared/dist/secret.js';
import { SnmpEngine } from '../../packages/snmp/dist/engine/engine.js';
import { Session } from '../../packages/snmp/dist/engine/session.js';

const [address = ''] = process.argv.slice(2);
const engine = await SnmpEngine.open({ clock: systemClock });
const credential = { id: 'bench', version: 'v2c', community: new Secret('public') };
const session = new Session(engine, { address, port: 161 }, credential, { timeoutMs: 1500, tries: 2 });
const subject = { session, system: {}, settings: BUILT_IN_PROFILES.standard.snmp, extra: [], now: Date.now };
let sweepMs = 0;
let whole = false;
for (let round = 0; round < 3; round += 1) {
  const started = performance.now();
  const facts = await takeInventory(subject);
  sweepMs = performance.now() - started;
  const interfaces = facts.filter(({ table }) => table === 'interfaces');
  const rows = interfaces.reduce((sum, part) => sum + part.rows.length, 0);
  whole = rows >= 1000 && interfaces.at(-1)?.complete === true;
}
if (whole) console.log(address);
console.error(JSON.stringify({ sweepMs }));
await engine.close();
