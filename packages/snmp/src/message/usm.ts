/**
 * The User-based Security Model (RFC 3414) for both ends: `RemoteEngine` is what a manager knows of an agent's
 * engine, `AuthoritativeEngine` is the agent's own.
 */
import { BerError } from './ber.ts';
import { digestLength, type LocalKeys, localKeys, sign, type UsmUser, verify } from './keys.ts';
import {
  decodeScopedPdu,
  encodeScopedPdu,
  encodeSecureEnvelope,
  type ScopedPdu,
  type SecureEnvelope,
  USM,
} from './message.ts';
import type { Varbind } from './pdu.ts';
import { decrypt, type EngineState, encrypt } from './privacy.ts';

export type SecurityLevel = 'noAuthNoPriv' | 'authNoPriv' | 'authPriv';

/** How far a message may differ from the receiver's notion of the engine's time (RFC 3414 section 2.2.3). */
const TIME_WINDOW_SECONDS = 150;
const MOST_BOOTS = 0x7fff_ffff;
/** SnmpEngineID: 5 … 32 octets (RFC 3411 section 5). */
export const isEngineId = (id: Buffer): boolean => id.length >= 5 && id.length <= 32;

export const levelOf = (user: UsmUser): SecurityLevel =>
  user.authProtocol === 'none' ? 'noAuthNoPriv' : user.privProtocol === 'none' ? 'authNoPriv' : 'authPriv';

/** Why a message is not believed. */
export type SecurityFault =
  | 'unsupported-level'
  | 'not-in-time'
  | 'unknown-user'
  | 'unknown-engine'
  | 'wrong-digest'
  | 'decrypt'
  | 'no-such-context'
  | 'invalid-message';

const REPORTS: Partial<Record<string, SecurityFault>> = {
  '1.3.6.1.6.3.15.1.1.1.0': 'unsupported-level',
  '1.3.6.1.6.3.15.1.1.2.0': 'not-in-time',
  '1.3.6.1.6.3.15.1.1.3.0': 'unknown-user',
  '1.3.6.1.6.3.15.1.1.4.0': 'unknown-engine',
  '1.3.6.1.6.3.15.1.1.5.0': 'wrong-digest',
  '1.3.6.1.6.3.15.1.1.6.0': 'decrypt',
  '1.3.6.1.6.3.12.1.4.0': 'no-such-context',
  '1.3.6.1.6.3.12.1.5.0': 'no-such-context',
};
const REPORT_OIDS = Object.fromEntries(
  Object.entries(REPORTS).map(([oid, fault]) => [fault, oid]),
) as Partial<Record<SecurityFault, string>>;

/** What a Report says is wrong; `invalid-message` when it says nothing we know. */
export function faultOfReport(varbinds: readonly Varbind[]): SecurityFault {
  for (const { oid } of varbinds) {
    const fault = REPORTS[oid] ?? REPORTS[`${oid}.0`];
    if (fault) return fault;
  }
  return 'invalid-message';
}

export interface SecureMessage {
  msgId: number;
  /** Largest message we accept in answer, octets. */
  maxSize: number;
  reportable: boolean;
  engine: EngineState;
  /** The scoped PDU as BER. */
  scoped: Buffer;
}

/** A whole v3 message at the highest level that `user` has; `null` is the anonymous user of discovery and Reports. */
export function encodeSecure(user: UsmUser | null, message: SecureMessage): Buffer {
  const { engine } = message;
  const keys: LocalKeys = user ? localKeys(user, engine.engineId) : { auth: null, priv: null };
  const { payload, salt } = keys.priv
    ? encrypt(keys.priv, message.scoped, engine)
    : { payload: message.scoped, salt: Buffer.alloc(0) };
  const digest = Buffer.alloc(keys.auth ? digestLength(keys.auth.protocol) : 0);
  const bytes = encodeSecureEnvelope({
    msgId: message.msgId,
    maxSize: message.maxSize,
    authenticated: keys.auth !== null,
    encrypted: keys.priv !== null,
    reportable: message.reportable,
    securityModel: USM,
    ...engine,
    userName: Buffer.from(user?.name ?? '', 'utf8'),
    digest,
    salt,
    payload,
  });
  if (keys.auth) {
    // Written back to front: behind the digest stand only the salt and the payload, each with a header.
    const tail = fieldLength(salt.length) + (keys.priv ? fieldLength(payload.length) : payload.length);
    sign(keys.auth, bytes, bytes.length - tail - digest.length);
  }
  return bytes;
}

/** Octets of an octet string with its header. */
const fieldLength = (length: number): number =>
  length + 2 + (length < 0x80 ? 0 : length < 0x100 ? 1 : length < 0x1_0000 ? 2 : 3);

/** Checks the digest, decrypts, and hands out the scoped PDU as BER. The level must already be the one asked. */
export function openSecure(
  message: Buffer,
  envelope: SecureEnvelope,
  user: UsmUser,
): { ok: true; scoped: Buffer } | { ok: false; fault: 'wrong-digest' | 'decrypt' } {
  if (!envelope.authenticated) return { ok: true, scoped: envelope.payload };
  const keys = localKeys(user, envelope.engineId);
  if (!keys.auth || !verify(keys.auth, message, envelope.digest)) return { ok: false, fault: 'wrong-digest' };
  if (!envelope.encrypted) return { ok: true, scoped: envelope.payload };
  const scoped = keys.priv && decrypt(keys.priv, envelope.payload, envelope.salt, envelope);
  return scoped ? { ok: true, scoped } : { ok: false, fault: 'decrypt' };
}

/** What is known of an agent's engine: its id, and its clock as far as authenticated messages carried it. */
export class RemoteEngine {
  readonly id: Buffer;
  #boots: number;
  #time: number;
  #latest: number;
  #at: number;
  #trusted = false;

  /** From a Report, which nothing vouches for: good for asking, not for judging answers. `now` in milliseconds. */
  constructor(id: Buffer, boots: number, time: number, now: number) {
    this.id = Buffer.from(id);
    this.#boots = boots;
    this.#time = time;
    this.#latest = time;
    this.#at = now;
  }

  /** Boots and estimated time of the engine, for an outgoing message. */
  state(now: number): EngineState {
    const time = Math.min(this.#time + Math.floor((now - this.#at) / 1000), MOST_BOOTS);
    return { engineId: this.id, engineBoots: this.#boots, engineTime: time };
  }

  /** Takes over a clock that a Report claims, while no authenticated message has carried a better one. */
  hint(boots: number, time: number, now: number): void {
    if (!this.#trusted) this.#set(boots, time, now);
  }

  /** Judges the clock in an authenticated message and learns from it (RFC 3414 section 3.2 step 7b). */
  accept(boots: number, time: number, now: number): boolean {
    if (!this.#trusted || boots > this.#boots || (boots === this.#boots && time > this.#latest)) {
      if (boots < 0 || time < 0 || boots > MOST_BOOTS || time > MOST_BOOTS) return false;
      this.#set(boots, time, now);
      this.#trusted = true;
      return boots !== MOST_BOOTS;
    }
    const expected = this.state(now).engineTime;
    return this.#boots !== MOST_BOOTS && boots === this.#boots && time >= expected - TIME_WINDOW_SECONDS;
  }

  #set(boots: number, time: number, now: number): void {
    this.#boots = boots;
    this.#time = time;
    this.#latest = time;
    this.#at = now;
  }
}

/** A request that passed every check of the agent's engine; give it back to `respond`. */
export interface SecureRequest {
  user: UsmUser;
  msgId: number;
  maxSize: number;
  level: SecurityLevel;
  scoped: ScopedPdu;
}

export type Received =
  | { kind: 'request'; request: SecureRequest }
  | { kind: 'report'; fault: SecurityFault; bytes: Buffer }
  | { kind: 'drop'; reason: SecurityFault | 'malformed' };

/** The engine of an agent: it owns its clock, answers discovery and refuses with Reports (RFC 3414 section 3.2). */
export class AuthoritativeEngine {
  readonly id: Buffer;
  readonly boots: number;
  readonly #users: Map<string, UsmUser>;
  readonly #seconds: () => number;
  readonly #counts = new Map<SecurityFault, number>();

  /** `seconds` is the time since the engine's last boot. */
  constructor(settings: { id: Buffer; boots: number; seconds: () => number; users: readonly UsmUser[] }) {
    this.id = settings.id;
    this.boots = settings.boots;
    this.#seconds = settings.seconds;
    this.#users = new Map(settings.users.map((user) => [user.name, user]));
  }

  /** `message` is the whole datagram that `envelope` was read from. */
  receive(message: Buffer, envelope: SecureEnvelope): Received {
    if (envelope.securityModel !== USM) return { kind: 'drop', reason: 'invalid-message' };
    if (envelope.encrypted && !envelope.authenticated) return { kind: 'drop', reason: 'invalid-message' };
    if (!envelope.engineId.equals(this.id)) return this.#refuse(envelope, 'unknown-engine', null);
    const user = this.#users.get(envelope.userName.toString('utf8'));
    if (!user) return this.#refuse(envelope, 'unknown-user', null);
    const level = envelope.encrypted ? 'authPriv' : envelope.authenticated ? 'authNoPriv' : 'noAuthNoPriv';
    if (level !== levelOf(user)) return this.#refuse(envelope, 'unsupported-level', null);
    if (envelope.authenticated) {
      const keys = localKeys(user, this.id);
      if (!keys.auth || !verify(keys.auth, message, envelope.digest)) {
        return this.#refuse(envelope, 'wrong-digest', null);
      }
      const late = Math.abs(this.#seconds() - envelope.engineTime) > TIME_WINDOW_SECONDS;
      if (this.boots === MOST_BOOTS || envelope.engineBoots !== this.boots || late) {
        return this.#refuse(envelope, 'not-in-time', user);
      }
    }
    const opened = openSecure(message, envelope, user);
    if (!opened.ok) return this.#refuse(envelope, opened.fault, null);
    try {
      const scoped = decodeScopedPdu(opened.scoped);
      return {
        kind: 'request',
        request: { user, level, scoped, msgId: envelope.msgId, maxSize: envelope.maxSize },
      };
    } catch (error) {
      if (!(error instanceof BerError)) throw error;
      // A wrong privacy key decrypts to noise.
      return envelope.encrypted
        ? this.#refuse(envelope, 'decrypt', null)
        : { kind: 'drop', reason: 'malformed' };
    }
  }

  /** The answer to `request`, at its level. */
  respond(request: SecureRequest, pdu: ScopedPdu['pdu']): Buffer {
    return this.#encode(request.user, request.msgId, { ...request.scoped, pdu });
  }

  /** A Report for a request whose context does not exist. */
  refuseContext(request: SecureRequest): Buffer {
    return this.#report('no-such-context', request.user, request.msgId, request.scoped.pdu);
  }

  #refuse(envelope: SecureEnvelope, fault: SecurityFault, user: UsmUser | null): Received {
    if (!envelope.reportable) return { kind: 'drop', reason: fault };
    return { kind: 'report', fault, bytes: this.#report(fault, user, envelope.msgId, null) };
  }

  #report(fault: SecurityFault, user: UsmUser | null, msgId: number, pdu: ScopedPdu['pdu'] | null): Buffer {
    const count = (this.#counts.get(fault) ?? 0) + 1;
    this.#counts.set(fault, count);
    // A Report about time is authenticated but never encrypted (RFC 3414 section 3.2 step 7a).
    const signer = user && fault === 'not-in-time' ? { ...user, privProtocol: 'none' as const } : user;
    return this.#encode(signer, msgId, {
      contextEngineId: this.id,
      contextName: Buffer.alloc(0),
      pdu: {
        type: 'report',
        requestId: pdu && 'requestId' in pdu ? pdu.requestId : 0,
        errorStatus: 0,
        errorIndex: 0,
        varbinds: [{ oid: REPORT_OIDS[fault] ?? '1.3.6.1.6.3.11.2.1.2.0', type: 'counter32', value: count }],
      },
    });
  }

  #encode(user: UsmUser | null, msgId: number, scoped: ScopedPdu): Buffer {
    return encodeSecure(user, {
      msgId,
      maxSize: 65_507,
      reportable: false,
      engine: { engineId: this.id, engineBoots: this.boots, engineTime: this.#seconds() },
      scoped: encodeScopedPdu(scoped),
    });
  }
}
