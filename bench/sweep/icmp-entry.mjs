// icmp-entry.mjs TARGETS TRIES TIMEOUT_MS [ENGINE]
// The collector's ICMP sweep and nothing around it, at full speed: one JSON line per address that answered, and a
// summary on standard error.
import { closeSync, openSync, writeSync } from 'node:fs';
import { chooseEcho } from '../../packages/collector/dist/icmp/choose.js';
import { sweepIcmp } from '../../packages/collector/dist/icmp/sweep.js';
import { AddressSpace } from '../../packages/shared/dist/address-space.js';
import { parseTargets } from '../../packages/shared/dist/targets.js';

const [targets = '', tries = '1', timeoutMs = '500', engine] = process.argv.slice(2);
const parsed = parseTargets(targets, { allowLoopback: true });
if (!parsed.ok) {
  console.error(parsed.problems);
  process.exit(2);
}
const { open } = await chooseEcho(engine ? [engine] : undefined);
const out = openSync('/dev/stdout', 'w');
let text = '';
const print = () => {
  writeSync(out, text);
  text = '';
};
const started = performance.now();
const summary = await sweepIcmp({
  space: new AddressSpace(parsed.targets.ranges),
  echo: open,
  pace: { free: true, take: () => undefined },
  tries: Number(tries),
  timeoutMs: Number(timeoutMs),
  onAnswer: (_index, address, rttMs) => {
    text += `{"address":"${address}","rttMs":${rttMs.toFixed(3)}}\n`;
    if (text.length > 1 << 16) print();
  },
  onSilent: () => undefined,
});
const sweepMs = performance.now() - started;
print();
closeSync(out);
console.error(JSON.stringify({ sweepMs, rssMb: process.resourceUsage().maxRSS / 1024, ...summary }));
