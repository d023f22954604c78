// main.mjs [--devices 10000] [--interfaces 24] [--seconds 60] [--check] [--json]
//
// One collector that watches 10,000 devices with 24 interfaces each, at the default intervals, in the laboratory of
// bench/sweep (root, Linux; made and removed here). The collector is the real daemon with its link and outbox; the server
// is scripted: it hands the list over, acknowledges, and notes when each change arrives. fping pings the same addresses
// at the same interval meanwhile. --check ends with status 1 when a bound is missed. About six minutes.
import '../../scripts/usage.mjs';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

// Names of its own, so that another benchmark is not disturbed; read by lab.mjs when it is loaded.
process.env.LAB_SCAN ??= 'rollcall-watcher';
process.env.LAB_SITE ??= 'rollcall-watched';
const { COLLECTOR, dir, install, lab } = await import('../sweep/lab.mjs');

const { values: options } = parseArgs({
  options: {
    devices: { type: 'string', default: '10000' },
    interfaces: { type: 'string', default: '24' },
    seconds: { type: 'string', default: '60' },
    check: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const refuse = (why) => {
  console.error(why);
  process.exit(2);
};
if (process.getuid?.() !== 0) refuse('needs root: it makes network namespaces');
if (!existsSync(join(COLLECTOR, '../../dist/main.js'))) refuse('build first: npm run build');
const absent = install([['fping', 'fping']]);

const driver = fileURLToPath(new URL('driver.mjs', import.meta.url));
let status = 1;
try {
  lab('up');
  lab('agents', options.interfaces);
  const args = ['netns', 'exec', process.env.LAB_SCAN, process.execPath, driver];
  const given = JSON.stringify({ ...options, dir, fping: !absent.includes('fping') });
  ({ status } = spawnSync('ip', [...args, given], { stdio: 'inherit' }));
} finally {
  lab('down');
}
process.exit(status ?? 1);
