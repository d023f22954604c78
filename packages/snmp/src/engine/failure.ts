import { ErrorStatus } from '../message/pdu.ts';
import type { SecurityFault } from '../message/usm.ts';

/** Why a datagram was thrown away. Each is counted; none ends a request. */
export const DROP_REASONS = [
  /** Not an SNMP message. */
  'malformed',
  /** Answers no outstanding request: late, repeated, or never asked for. */
  'unexpected',
  /** From another address or port than the one asked. */
  'wrong-source',
  'wrong-version',
  'wrong-community',
  /** Not a response. */
  'wrong-type',
  /** Less authentication or encryption than we ask with. */
  'lower-security',
  'wrong-engine',
  'wrong-user',
  'wrong-digest',
  'not-in-time',
  /** The request id inside the authenticated part is another. */
  'wrong-request',
] as const;
export type DropReason = (typeof DROP_REASONS)[number];

export type FailureCode =
  | 'timeout'
  | 'unreachable'
  | 'bad-request'
  | 'cancelled'
  | 'closed'
  | 'busy'
  | 'too-big'
  | 'no-such-name'
  | 'gen-err'
  | 'auth-failed'
  | 'error-status'
  | 'malformed'
  | 'mismatched'
  | SecurityFault;

/** How a request failed. Never carries a secret or octets of a message. */
export interface Failure {
  ok: false;
  code: FailureCode;
  /** 1-based position of the OID that the agent complains about, when it names one that was asked. */
  index?: number;
  /** Errno name, error-status number, or why the replies that did come were dropped. */
  detail?: string;
}

export const failure = (code: FailureCode, detail?: string): Failure =>
  detail === undefined ? { ok: false, code } : { ok: false, code, detail };

/** The failure that a non-zero error-status of a response stands for (RFC 3416 section 4.2.1). */
export function failureOfStatus(status: number, index: number, asked: number): Failure {
  const code: FailureCode =
    status === ErrorStatus.tooBig
      ? 'too-big'
      : status === ErrorStatus.noSuchName
        ? 'no-such-name'
        : status === ErrorStatus.genErr
          ? 'gen-err'
          : status === ErrorStatus.authorizationError
            ? 'auth-failed'
            : 'error-status';
  return {
    ok: false,
    code,
    detail: `error-status ${status}`,
    ...(index >= 1 && index <= asked ? { index } : {}),
  };
}

/** Whether an agent is there and refuses this credential, as opposed to silence. */
export const isRefused = (code: FailureCode): boolean =>
  code === 'auth-failed' ||
  code === 'unknown-user' ||
  code === 'wrong-digest' ||
  code === 'unsupported-level' ||
  code === 'decrypt' ||
  code === 'no-such-context';

const TEXT: Record<FailureCode, string> = {
  timeout:
    'No answer. The address may be unused, a firewall may drop SNMP, or the agent does not know this community.',
  unreachable: 'The system could not send to this address. Check the route and the local firewall.',
  'bad-request': 'The request itself cannot be written. Check the OIDs of the rules and the credential.',
  cancelled: 'Cancelled before an answer came.',
  closed: 'The collector is stopping.',
  busy: 'Too many requests are waiting. Lower the number of scans that run at once.',
  'too-big': 'The agent says that the answer does not fit into one message.',
  'no-such-name': 'The agent does not have this object.',
  'gen-err': 'The agent failed on this object without saying why.',
  'auth-failed':
    'The agent refuses this credential for these objects. Check its access rights (view, context).',
  'error-status': 'The agent answered with an error.',
  malformed: 'The agent’s answer is not valid SNMP.',
  mismatched: 'The agent answered something else than what was asked.',
  'unsupported-level':
    'The user exists, but not with this level of security. Check the auth and privacy protocols.',
  'not-in-time':
    'The agent’s clock jumps: its messages lie outside the time window. Check the agent’s boot counter.',
  'unknown-user': 'The agent does not know this user name.',
  'unknown-engine': 'The agent changes its engine id between answers.',
  'wrong-digest': 'The authentication phrase or protocol is wrong for this user.',
  decrypt: 'The privacy phrase or protocol is wrong for this user.',
  'no-such-context': 'The agent does not know this context name.',
  'invalid-message': 'The agent reports a fault that SNMP does not define.',
};

/** A sentence for people: what happened and what to look at. */
export const explain = ({ code, detail }: Failure): string =>
  detail ? `${TEXT[code]} (${detail})` : TEXT[code];
