/** Debian's daemons in a box, as every network of `test/realnet` starts them. */
import { existsSync } from 'node:fs';
import { skipped } from '@rollcall/shared/testing/skipped';
import type { Box } from './box.ts';

const NEEDED = [
  '/usr/sbin/snmpd',
  '/usr/sbin/lldpd',
  '/usr/lib/frr/ospfd',
  '/usr/share/doc/frr-snmp',
  '/usr/sbin/nft',
];

/** Whether the daemons are here. */
export function haveDaemons(): boolean {
  if (NEEDED.every((path) => existsSync(path))) return true;
  skipped('the network of real daemons: install frr, frr-snmp, lldpd, nftables, snmpd');
  return false;
}

const SNMPD = `rocommunity public
master agentx
agentXSocket /var/agentx/master
agentXPerms 0777 0777
interface_fadeout 1
`;

/** `more`: further lines of its configuration. */
export function startAgent(box: Box, more = ''): void {
  box.write('/run/snmpd.conf', `${SNMPD}${more}`);
  // Its engine id stands in /var/lib/snmp, as on every host: restarted it is the same, a copy has the same.
  const environment = ['SNMPCONFPATH=/run:/var/lib/snmp', 'MIBS='];
  box.daemon('env', ...environment, 'snmpd', '-Lf', '/run/snmpd.log', '-I', '-smux', 'udp:161');
}

export function startLldpd(box: Box, address: string): void {
  // The default is to tell every 30 s; a test has no time for that.
  box.write('/run/lldpd.conf', 'configure lldp tx-interval 2\n');
  box.daemon('lldpd', '-x', '-X', '/var/agentx/master', '-m', address, '-O', '/run/lldpd.conf');
}

/** zebra and one that speaks a routing protocol, both also to the agent. */
export function startFrr(box: Box, protocol: 'ospfd' | 'bgpd', configuration: string): void {
  box.write('/etc/frr/frr.conf', configuration);
  box.exec('chown', 'frr:frr', '/etc/frr/frr.conf');
  for (const daemon of ['zebra', protocol])
    box.daemon(`/usr/lib/frr/${daemon}`, '-d', '-M', 'snmp', '-f', '/etc/frr/frr.conf');
}

const READ = ['-v2c', '-c', 'public', '-Ov', '-OQ', '-r', '1', '127.0.0.1'];

/** Values of a column as the agent tells them; none of one that does not answer. */
export function columnOf(box: Box, oid: string): string[] {
  try {
    return box
      .exec('snmpbulkwalk', ...READ, oid)
      .split('\n')
      .filter((line) => line !== '');
  } catch {
    return [];
  }
}

/** LLDP-MIB */
export const LLDP_REM_SYS_NAME = '1.0.8802.1.1.2.1.4.1.1.9';
