/**
 * `doctor snmp`: reads one agent by the collector's own SNMP and by net-snmp, and says where they differ. Where both
 * agree, what the collector reports is what the agent says. Exit codes: 0 the same, 1 they differ, 2 not read.
 */
import { systemClock } from '@rollcall/shared/clock';
import { formatAddress, parseAddress } from '@rollcall/shared/ip';
import { credentialOf, type SnmpCredential } from '@rollcall/snmp/engine/credential';
import { SnmpEngine } from '@rollcall/snmp/engine/engine';
import { explain, type FailureCode } from '@rollcall/snmp/engine/failure';
import { Session } from '@rollcall/snmp/engine/session';
import { readConfig } from '../../platform/config.ts';
import { Misuse } from '../../platform/refusal.ts';
import { Scope } from '../../sweep/scope.ts';
import { type CredentialFlags, credentialsOf } from '../credentials.ts';
import type { Terminal } from '../terminal.ts';
import { type ComparedGroup, differencesOf, endsDiffer } from './compare.ts';
import { NetSnmpReader, netSnmpCan } from './net-snmp.ts';
import { type Reading, readOwn } from './reading.ts';
import { describeGroups } from './table.ts';

export interface SnmpDoctorFlags extends CredentialFlags {
  timeout: number;
  tries: number;
  config?: string;
  json: boolean;
}

/** The first one decides whether the agent can be read at all. */
const GROUPS = [
  { name: 'system', oid: '1.3.6.1.2.1.1' },
  { name: 'ifTable', oid: '1.3.6.1.2.1.2.2.1' },
  { name: 'ifXTable', oid: '1.3.6.1.2.1.31.1.1.1' },
  { name: 'ipAddrTable', oid: '1.3.6.1.2.1.4.20.1' },
  { name: 'dot1dBase', oid: '1.3.6.1.2.1.17.1' },
  { name: 'entPhysicalTable', oid: '1.3.6.1.2.1.47.1.1.1.1' },
  { name: 'snmpEngine', oid: '1.3.6.1.6.3.10.2.1' },
  { name: 'lldpRemTable', oid: '1.0.8802.1.1.2.1.4.1.1' },
] as const;

/** Reads, compares and prints; answers the exit code. */
export async function runSnmpDoctor(
  text: string,
  flags: SnmpDoctorFlags,
  { env, stdout }: Pick<Terminal, 'env' | 'stdout'>,
): Promise<number> {
  const target = { address: await permitted(text, flags, env), port: flags.snmpPort ?? 161 };
  const credential = onlyCredential(flags, env);
  const options = { timeoutMs: flags.timeout, tries: flags.tries };
  const engine = await SnmpEngine.open({ clock: systemClock });
  const netSnmp = new NetSnmpReader(target, credential, options);
  let groups: ComparedGroup[];
  try {
    groups = await compareGroups(new Session(engine, target, credential, options), netSnmp);
  } finally {
    netSnmp.close();
    await engine.close();
  }
  const same = groups.every((group) => group.same);
  const unread = groups.length === 1 ? unreadReason(groups[0]) : null;
  const code = unread !== null ? 2 : same ? 0 : 1;
  stdout.write(
    flags.json
      ? `${JSON.stringify({ ...target, version: credential.version, same, unread, groups: groups.map(plain) })}\n`
      : `${target.address} port ${target.port}, SNMP ${credential.version}\n\n${describeGroups(groups, unread)}\n`,
  );
  return code;
}

/** The address in its canonical form. The settings of this host hold for its doctor as well. */
async function permitted(text: string, { config }: SnmpDoctorFlags, env: Terminal['env']): Promise<string> {
  const address = parseAddress(text);
  if (!address.ok) throw new Misuse(`${text}: not an IPv4 or IPv6 address`);
  const { allow, deny } = await readConfig(env, config).catch((error: Error) => {
    throw new Misuse(error.message);
  });
  if (!new Scope({ allow, deny, loopback: true }).allows(address.value)) {
    throw new Misuse(`${text}: this collector’s settings do not allow it; see "rollcall-collector settings"`);
  }
  return formatAddress(address.value);
}

function onlyCredential(flags: SnmpDoctorFlags, env: Terminal['env']): SnmpCredential {
  const [wire] = credentialsOf(flags, env);
  if (wire === undefined) {
    throw new Misuse('no credential: give --community-file FILE, ROLLCALL_COMMUNITY or --v3-user NAME');
  }
  const credential = credentialOf(wire);
  if (!netSnmpCan(credential)) {
    throw new Misuse(
      `--v3-priv ${flags.v3Priv}: net-snmp does not have it here, so there is no second opinion; use a user with aes128, aes256 or aes256r`,
    );
  }
  return credential;
}

async function compareGroups(session: Session, reader: NetSnmpReader): Promise<ComparedGroup[]> {
  const groups: ComparedGroup[] = [];
  for (const { name, oid } of GROUPS) {
    const own = await readOwn(session, oid);
    const netSnmp = await reader.read(oid);
    const differences = differencesOf(own, netSnmp, await readOwn(session, oid));
    const same = differences.length === 0 && !endsDiffer(own, netSnmp);
    groups.push({ name, oid, own, netSnmp, differences, same });
    // Further groups would only wait for the same time-outs.
    if (isUnread(own) || isUnread(netSnmp)) break;
  }
  return groups;
}

const isUnread = ({ values, stopped }: Reading): boolean => values.size === 0 && stopped !== null;

/** Why neither implementation read anything, and what to do; null when one of them did. */
function unreadReason(group: ComparedGroup | undefined): string | null {
  if (!group || !isUnread(group.own) || !isUnread(group.netSnmp)) return null;
  return explain({ ok: false, code: group.own.stopped as FailureCode });
}

const plain = ({ own, netSnmp, ...rest }: ComparedGroup) => ({
  ...rest,
  own: { values: own.values.size, stopped: own.stopped },
  netSnmp: { values: netSnmp.values.size, stopped: netSnmp.stopped },
});
