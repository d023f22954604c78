/** The second opinion: an agent read by the npm package `net-snmp`, which shares no code with ours. */
import { compareOid } from '@rollcall/shared/oid';
import type { SnmpCredential } from '@rollcall/snmp/engine/credential';
import type { AskOptions, Target } from '@rollcall/snmp/engine/exchange';
import type { AuthProtocol, PrivProtocol } from '@rollcall/snmp/message/keys';
import type { ValueType } from '@rollcall/snmp/message/pdu';
import snmp, { type Session, type Varbind } from 'net-snmp';
import { GROUP_MS, MOST_VALUES, type Reading, type ReadValue } from './reading.ts';

const AUTH: Record<AuthProtocol, string> = {
  none: 'none',
  md5: 'md5',
  sha1: 'sha',
  sha224: 'sha224',
  sha256: 'sha256',
  sha384: 'sha384',
  sha512: 'sha512',
};

/** null: net-snmp lacks AES-192, and its DES needs a cipher that OpenSSL 3 no longer has. */
const PRIV: Record<PrivProtocol, string | null> = {
  none: 'none',
  des: null,
  aes128: 'aes',
  aes192: null,
  aes192r: null,
  aes256: 'aes256b',
  aes256r: 'aes256r',
};

const TYPES: Record<string, ValueType> = {
  Integer: 'integer',
  OctetString: 'octets',
  Null: 'null',
  OID: 'oid',
  IpAddress: 'ipaddress',
  Counter: 'counter32',
  Gauge: 'gauge32',
  TimeTicks: 'timeticks',
  Opaque: 'opaque',
  Counter64: 'counter64',
};

const MAX_REPETITIONS = 20;

/** Whether net-snmp has the ciphers of this credential. */
export const netSnmpCan = (credential: SnmpCredential): boolean =>
  credential.version !== 'v3' || PRIV[credential.user.privProtocol] !== null;

export class NetSnmpReader {
  readonly #session: Session;
  /** Ends the reading in progress. */
  #fail: (reason: string) => void = () => undefined;

  constructor(target: Target, credential: SnmpCredential, options: AskOptions) {
    this.#session = sessionOf(target, credential, options);
    this.#session.on('error', () => this.#fail('malformed'));
    // An exception on what an agent sends would end the process: net-snmp handles datagrams in an event.
    const { dgram } = this.#session;
    const handlers = dgram.listeners('message');
    dgram.removeAllListeners('message');
    dgram.on('message', (...datagram) => {
      try {
        for (const handler of handlers) handler(...datagram);
      } catch {
        this.#fail('malformed');
      }
    });
  }

  /** Reads all objects below `oid`. */
  read(oid: string): Promise<Reading> {
    const values = new Map<string, ReadValue>();
    let last = oid;
    let stopped: string | null = null;
    /** Takes the objects of one answer; true ends the walk. */
    const take = (varbinds: Varbind[]): boolean => {
      for (const varbind of varbinds) {
        if (stopped !== null || snmp.isVarbindError(varbind)) return true;
        if (compareOid(varbind.oid, last) <= 0) stopped = 'not-increasing';
        else if (values.size >= MOST_VALUES) stopped = 'row-budget';
        else values.set(varbind.oid, readValueOf(varbind));
        last = varbind.oid;
      }
      return stopped !== null;
    };
    return new Promise((resolve) => {
      const end = (reason: string | null) => {
        clearTimeout(timer);
        stopped = reason;
        resolve({ values, stopped });
      };
      const timer = setTimeout(() => end('time-budget'), GROUP_MS);
      this.#fail = end;
      this.#session.subtree(oid, MAX_REPETITIONS, take, (error) => end(error ? reasonOf(error) : stopped));
    });
  }

  close(): void {
    this.#session.close();
  }
}

function sessionOf(
  { address, port }: Target,
  credential: SnmpCredential,
  { timeoutMs, tries }: AskOptions,
): Session {
  const transport = address.includes(':') ? 'udp6' : 'udp4';
  const options = { port, retries: tries - 1, timeout: timeoutMs, transport } as const;
  if (credential.version !== 'v3') {
    const version = credential.version === 'v1' ? snmp.Version1 : snmp.Version2c;
    return snmp.createSession(address, credential.community.reveal(), { ...options, version });
  }
  const { name, authProtocol, authKey, privProtocol, privKey } = credential.user;
  const { SecurityLevel, AuthProtocols, PrivProtocols } = snmp;
  const user = {
    name,
    level:
      authProtocol === 'none'
        ? SecurityLevel.noAuthNoPriv
        : privProtocol === 'none'
          ? SecurityLevel.authNoPriv
          : SecurityLevel.authPriv,
    authProtocol: AuthProtocols[AUTH[authProtocol]] as number,
    authKey: authKey?.reveal() ?? '',
    privProtocol: PrivProtocols[PRIV[privProtocol] ?? 'none'] as number,
    privKey: privKey?.reveal() ?? '',
  };
  const context = credential.contextName ?? '';
  return snmp.createV3Session(address, user, { ...options, version: snmp.Version3, context });
}

function readValueOf({ type, value }: Varbind): ReadValue {
  const known = TYPES[snmp.ObjectType[type] ?? ''] ?? 'null';
  if (!Buffer.isBuffer(value)) return { type: known, text: String(value ?? '') };
  const hex = value.toString('hex');
  return { type: known, text: known === 'counter64' ? String(BigInt(`0x${hex || '0'}`)) : hex };
}

/** Why a request failed, as a code. The message of the error is not used: it may contain the community. */
function reasonOf(error: Error & { status?: unknown; code?: unknown }): string {
  if (error.name === 'RequestTimedOutError') return 'timeout';
  if (error.name === 'RequestFailedError') return snmp.ErrorStatus[Number(error.status)] ?? 'error-status';
  return snmp.ResponseInvalidCode[Number(error.code)] ?? String(error.code ?? 'malformed');
}
