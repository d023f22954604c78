/**
 * SNMP credentials on the command line. Secrets come from files, standard input or the environment: everybody on the
 * host sees arguments.
 */
import { readFileSync } from 'node:fs';
import { AUTH_PROTOCOLS, PRIV_PROTOCOLS } from '@rollcall/shared/model';
import type { WireCredential } from '@rollcall/shared/protocol';
import type { Command } from 'commander';
import { Misuse, systemReason } from '../platform/refusal.ts';
import { oneOf, whole } from './flags.ts';

type V3 = Extract<WireCredential, { version: 'v3' }>;

export interface CredentialFlags {
  community?: string[];
  communityFile?: string;
  snmpVersion: 'v1' | 'v2c';
  v3User?: string;
  v3Auth: V3['authProtocol'];
  v3AuthKeyFile?: string;
  v3Priv: V3['privProtocol'];
  v3PrivKeyFile?: string;
  v3Context?: string;
  snmpPort?: number;
}

export const addCredentialOptions = (command: Command): Command =>
  command
    .option(
      '--community-file <file>',
      'file with the SNMP community, - is standard input; or ROLLCALL_COMMUNITY',
    )
    .option('--snmp-version <v1|v2c>', 'SNMP version for communities', oneOf(['v1', 'v2c']), 'v2c')
    .option('--v3-user <name>', 'SNMPv3 user')
    .option(
      '--v3-auth <protocol>',
      'md5, sha1, sha224, sha256, sha384, sha512',
      oneOf(AUTH_PROTOCOLS),
      'none',
    )
    .option('--v3-auth-key-file <file>', 'file with its pass phrase; or ROLLCALL_V3_AUTH_KEY')
    .option(
      '--v3-priv <protocol>',
      'des, aes128, aes192, aes256, aes192r, aes256r (Cisco)',
      oneOf(PRIV_PROTOCOLS),
      'none',
    )
    .option('--v3-priv-key-file <file>', 'file with its pass phrase; or ROLLCALL_V3_PRIV_KEY')
    .option('--v3-context <name>', 'SNMPv3 context')
    .option('--snmp-port <port>', 'UDP port of the agents (161)', whole(1, 65_535));

type Environment = Readonly<Record<string, string | undefined>>;

/** The credentials that flags and environment name, v3 first; their ids are only names here. */
export function credentialsOf(flags: CredentialFlags, env: Environment): WireCredential[] {
  const { communityFile: file } = flags;
  const given = flags.community ?? (env.ROLLCALL_COMMUNITY ? [env.ROLLCALL_COMMUNITY] : []);
  const communities = file === undefined ? given : [readSecret('community-file', file)];
  const plain = communities.map((community, i): WireCredential => {
    if (community.length > 255) throw new Misuse('the community is longer than 255 characters');
    return { id: `community ${i + 1}`, version: flags.snmpVersion, community };
  });
  return flags.v3User === undefined ? plain : [userOf(flags.v3User, flags, env), ...plain];
}

function userOf(user: string, flags: CredentialFlags, env: Environment): WireCredential {
  if (user.length > 32) throw new Misuse('--v3-user: longer than 32 characters (RFC 3414)');
  const { v3Auth: authProtocol, v3Priv: privProtocol } = flags;
  if (privProtocol !== 'none' && authProtocol === 'none') {
    throw new Misuse('--v3-priv needs --v3-auth: SNMPv3 has no privacy without authentication (RFC 3414)');
  }
  const authKey =
    authProtocol === 'none' ? undefined : keyOf('auth', flags.v3AuthKeyFile, env.ROLLCALL_V3_AUTH_KEY);
  const privKey =
    privProtocol === 'none' ? undefined : keyOf('priv', flags.v3PrivKeyFile, env.ROLLCALL_V3_PRIV_KEY);
  return {
    id: `user ${user}`,
    version: 'v3',
    user,
    authProtocol,
    privProtocol,
    ...(authKey === undefined ? {} : { authKey }),
    ...(privKey === undefined ? {} : { privKey }),
    ...(flags.v3Context === undefined ? {} : { contextName: flags.v3Context }),
  };
}

function keyOf(which: 'auth' | 'priv', file: string | undefined, variable: string | undefined): string {
  const name = which.toUpperCase();
  if (file === undefined && !variable) {
    throw new Misuse(
      `--v3-${which}: give its key with --v3-${which}-key-file FILE or in ROLLCALL_V3_${name}_KEY`,
    );
  }
  const key = file === undefined ? (variable ?? '') : readSecret(`v3-${which}-key-file`, file);
  if (key.length < 8 || key.length > 255) {
    throw new Misuse(`--v3-${which}: its key must have 8 to 255 characters (RFC 3414 section 11.2)`);
  }
  return key;
}

function readSecret(flag: string, file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new Misuse(`--${flag} ${file}: ${systemReason(error)}`);
  }
}
