// reads.mjs SCALE
//
// The laboratory of bench/sweep with 10,000 agents of 24 interfaces (times SCALE, 500 to 1,000; root, Linux; made and removed here): the
// processor time that our collector takes for reading a device, and Debian's prometheus-snmp-exporter by its module if_mib.
import '../../scripts/usage.mjs';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

process.env.LAB_SCAN ??= 'rollcall-reader';
process.env.LAB_SITE ??= 'rollcall-read';
const { install, lab } = await import('../sweep/lab.mjs');

const refuse = (why) => {
  console.error(why);
  process.exit(2);
};
if (process.getuid?.() !== 0) refuse('reading needs root: it makes network namespaces');
install([['prometheus-snmp-exporter', 'prometheus-snmp-exporter']]);
if (!existsSync('/usr/bin/prometheus-snmp-exporter')) refuse('apt-get install prometheus-snmp-exporter');

let status = 1;
try {
  lab('up');
  lab('agents', '24');
  const driver = fileURLToPath(new URL('reads-entry.mjs', import.meta.url));
  const args = ['netns', 'exec', process.env.LAB_SCAN, process.execPath, driver, process.argv[2] ?? '1'];
  ({ status } = spawnSync('ip', args, { stdio: 'inherit' }));
} finally {
  lab('down');
}
process.exit(status ?? 1);
