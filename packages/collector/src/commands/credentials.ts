/** SNMP credentials of the `sweep` command. Keys come from files or the environment: arguments are seen by everybody. */
import { readFileSync } from 'node:fs';
import type { WireCredential } from '@rollcall/shared/protocol';
import { Misuse, systemReason } from '../platform/refusal.ts';

type V3 = Extract<WireCredential, { version: 'v3' }>;

export interface CredentialFlags {
  community?: string[];
  snmpVersion: 'v1' | 'v2c';
  v3User?: string;
  v3Auth: V3['authProtocol'];
  v3AuthKeyFile?: string;
  v3Priv: V3['privProtocol'];
  v3PrivKeyFile?: string;
  v3Context?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The credentials that flags and environment name, v3 first; their ids are only names here. */
export function credentialsOf(flags: CredentialFlags, env: Environment): WireCredential[] {
  const communities = flags.community ?? (env.ROLLCALL_COMMUNITY ? [env.ROLLCALL_COMMUNITY] : []);
  const plain = communities.map((community, i): WireCredential => {
    if (community.length > 255) throw new Misuse('--community: longer than 255 characters');
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
  const key = file === undefined ? (variable ?? '') : readKey(which, file);
  if (key.length < 8 || key.length > 255) {
    throw new Misuse(`--v3-${which}: its key must have 8 to 255 characters (RFC 3414 section 11.2)`);
  }
  return key;
}

function readKey(which: string, file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new Misuse(`--v3-${which}-key-file ${file}: ${systemReason(error)}`);
  }
}
