/** A notice as a mail, and one attempt to send it. Never throws; every bound is here. */
import { connect, type Socket } from 'node:net';
import { domainToASCII } from 'node:url';
import type { Recipient } from '@rollcall/shared/api/deliveries';
import { CaseStatus, nameOfCode, Severity } from '@rollcall/shared/model';
import type { Secret } from '@rollcall/shared/secret';
import { createTransport, type NodemailerError } from 'nodemailer';
import { headerLine, type Payload, summaryOf, VERBS } from './message.ts';
import { delivered, failed, messageOf, type Outcome, oneLine } from './outcome.ts';

/** Of one silence, and of the whole conversation: a mail server may talk on and never come to the point. */
const MAIL_LIMITS = { silentMs: 20_000, inAllMs: 45_000 };

interface Written {
  subject: string;
  text: string;
  /** All mails of a case are one thread (RFC 5322 section 3.6.4): the first has this id, later ones refer to it. Null: a test. */
  thread: string | null;
  first: boolean;
}

export function mailOf(payload: Payload): Written {
  const { type, data } = payload;
  const { case: it, site, events, url } = data;
  const severity = nameOfCode(Severity, it.severity);
  // The same for the whole case: mail programs take another subject for another conversation.
  const subject =
    type === 'test'
      ? summaryOf(payload)
      : `[${headerLine(site.name)}] #${it.number}: ${headerLine(it.title)}`;
  const verb = VERBS[type];
  const lines = [
    type === 'test'
      ? 'This is a test. Mail from Rollcall arrives.'
      : `${verb[0]?.toUpperCase()}${verb.slice(1)}: ${it.title} (${severity})`,
    '',
    `Case      #${it.number}, ${nameOfCode(CaseStatus, it.status)}`,
    `Site      ${site.name}`,
    `Severity  ${severity}, priority ${it.priority}`,
    `Assignee  ${it.assignee ?? 'Unassigned'}`,
    `Events    ${it.eventCount}, ${it.openEventCount} of them not closed`,
    ...(events.length > 0 ? ['', ...events.map((event) => `  - ${event.message}`)] : []),
    ...(it.openEventCount > events.length && events.length > 0
      ? [`  and ${it.openEventCount - events.length} more`]
      : []),
    ...(url ? ['', url] : []),
    ...(data.acknowledgeUrl ? ['', `Acknowledge: ${data.acknowledgeUrl}`] : []),
  ];
  return {
    subject,
    text: `${lines.join('\n')}\n`,
    thread: type === 'test' ? null : `<case-${it.id}@rollcall>`,
    first: type === 'case.opened',
  };
}

export interface MailServer {
  host: string;
  port: number;
  security: 'tls' | 'starttls' | 'none';
  user: string;
  password: Secret | null;
  from: string;
}

export interface Mail {
  id: string;
  server: MailServer;
  addresses: readonly string[];
  /** The others have it. Empty: all. */
  only?: readonly string[];
  payload: Payload;
  signal: AbortSignal;
  limits?: typeof MAIL_LIMITS;
  /** PEM of the authorities to believe instead of those that Node does. */
  authorities?: string;
}

/** Sends one mail to all addresses, or only to those that wait for it still. */
export async function sendMail({
  id,
  server,
  addresses,
  only = [],
  payload,
  signal,
  limits: { silentMs, inAllMs } = MAIL_LIMITS,
  authorities,
}: Mail): Promise<Outcome> {
  let written: Written;
  try {
    written = mailOf(payload);
  } catch (error) {
    return failed(`no mail can be written from what is stored of it: ${messageOf(error)}`, { final: true });
  }
  const transport = createTransport({
    host: server.host,
    port: server.port,
    secure: server.security === 'tls',
    requireTLS: server.security === 'starttls',
    ignoreTLS: server.security === 'none',
    ...(server.user !== '' && { auth: { user: server.user, pass: server.password?.reveal() ?? '' } }),
    connectionTimeout: silentMs,
    greetingTimeout: silentMs,
    socketTimeout: silentMs,
    getSocket: (_options, done) => open(server, silentMs, done),
    socketCloseTimeout: 1_000,
    ...(authorities !== undefined && { tls: { ca: authorities } }),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const limit = AbortSignal.timeout(inAllMs);
  const tried = only.length > 0 ? only : addresses;
  try {
    const sent = await transport.sendMail({
      // The library's own; its types do not know it yet.
      ...{ signal: AbortSignal.any([signal, limit]) },
      from: { name: 'Rollcall', address: server.from },
      to: [...addresses],
      envelope: { from: server.from, to: [...tried] },
      subject: written.subject,
      text: written.text,
      messageId: written.first && written.thread !== null ? written.thread : `<${id}@rollcall>`,
      ...(!written.first &&
        written.thread !== null && { inReplyTo: written.thread, references: written.thread }),
      // RFC 3834: no answers by machines.
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
    const refusals = sent.rejectedErrors ?? [];
    const recipients = recipientsOf(tried, refusals);
    if (refusals.length > 0) return refusedFor(refusals, recipients, '; the others have it');
    return { ...delivered(250), recipients };
  } catch (error) {
    if (signal.aborted) return failed('the server was stopped meanwhile');
    if (limit.aborted) return failed(`the mail server took longer than ${inAllMs / 1000} s`);
    const { responseCode: status = null, code, rejectedErrors = [] } = error as NodemailerError;
    if (rejectedErrors.length > 0) return refusedFor(rejectedErrors, recipientsOf(tried, rejectedErrors), '');
    // A permanent refusal of the mail (RFC 5321 section 4.2.1) stays one; what fails before it an administrator mends.
    const final = status !== null && status >= 500 && (code === 'EENVELOPE' || code === 'EMESSAGE');
    const said = messageOf(error);
    const refused = (address: string): Recipient => ({ address, state: 'refused', said: oneLine(said) });
    return failed(said, { status, final, ...(final && { recipients: tried.map(refused) }) });
  } finally {
    transport.close();
  }
}

/**
 * By the system's names: /etc/hosts counts, as everywhere. The library asks the name server by itself, waits for it although
 * the name is known here, and has no answer while that server has none.
 */
function open(
  { host, port }: MailServer,
  silentMs: number,
  done: (error: Error | null, opened?: { connection: Socket }) => void,
): void {
  const socket = connect({ host, port });
  const failed = (error: Error) => done(error);
  socket.setTimeout(silentMs, () =>
    socket.destroy(new Error(`${host} took no connection within ${silentMs / 1000} s`)),
  );
  socket.once('error', failed);
  socket.once('connect', () => {
    socket.off('error', failed).removeAllListeners('timeout');
    done(null, { connection: socket });
  });
}

/** An address as it goes over the wire: its domain in lower case, in ASCII. */
function asSent(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  return address.slice(0, at) + domainToASCII(address.slice(at));
}

const isDeferral = ({ permanent }: NodemailerError): boolean => permanent === false;

/** What became of each address that was tried, by the refusals of single ones. */
function recipientsOf(tried: readonly string[], refusals: readonly NodemailerError[]): Recipient[] {
  const by = new Map(refusals.map((refusal) => [asSent(refusal.recipient ?? ''), refusal]));
  return tried.map((address): Recipient => {
    const refusal = by.get(asSent(address));
    if (!refusal) return { address, state: 'delivered', said: '' };
    const state = isDeferral(refusal) ? 'deferred' : 'refused';
    return { address, state, said: oneLine(refusal.response ?? refusal.message) };
  });
}

/** Addresses that were refused by themselves: those that may be served later (4xx) are tried again, and only those. */
function refusedFor(
  refusals: readonly NodemailerError[],
  recipients: readonly Recipient[],
  others: string,
): Outcome {
  const later = refusals.filter(isDeferral);
  const never = refusals.filter((refusal) => !isDeferral(refusal));
  const said = (verb: string, of: readonly NodemailerError[]) =>
    of.length === 0 ? [] : [`${verb} ${of.map(({ recipient }) => recipient).join(', ')}: ${of[0]?.response}`];
  return failed(
    `the mail server ${[...said('refused', never), ...said('deferred', later)].join('; it ')}${others}`,
    { status: (later[0] ?? never[0])?.responseCode ?? null, final: later.length === 0, recipients },
  );
}
