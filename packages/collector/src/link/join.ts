/** Joining a site: a key is made here, its public half and the one-use token go to the server, the answer is kept. */
import { hostname as ownName } from 'node:os';
import type { PeerCertificate } from 'node:tls';
import { lockFolder } from '@rollcall/host/lock';
import { joined } from '@rollcall/shared/api/collectors';
import { Refusal, systemReason } from '../platform/refusal.ts';
import { request } from './http.ts';
import {
  dropKey,
  type Identity,
  loadIdentity,
  makeKey,
  prepareFolder,
  publicKeyOf,
  saveIdentity,
} from './identity.ts';
import { connectionProblem, serverAddress } from './server-address.ts';

/** The server must answer within this time when a collector joins. */
const CONNECT_MS = 10_000;
/** `rcj_…`, and behind a point the SHA-256 of the certificate that vouches for the server, where it is self-made. */
const TOKEN = /^(rcj_[0-9A-Za-z]{20,80})(?:\.([A-Za-z0-9_-]{43}))?$/;

export interface JoinOptions {
  stateFolder: string;
  url: string;
  token: string;
  name?: string | undefined;
  hostname?: string;
}

/** Joins and writes the identity down. Throws a Refusal; then nothing was changed, except that a token may be used up. */
export async function join(options: JoinOptions): Promise<Identity> {
  const server = serverAddress(options.url);
  const [, token, fingerprint] = TOKEN.exec(options.token.trim()) ?? [];
  if (!token) {
    throw new Refusal(
      'that is not a join token (rcj_…): make one at the server under Collectors → Add, or with "rollcall-server join-token create --site NAME"',
    );
  }
  prepareFolder(options.stateFolder);
  const lock = await lockFolder(options.stateFolder, 'collector');
  if (!lock.ok)
    throw new Refusal(`the state folder ${options.stateFolder} is in use by ${lock.heldBy}: stop it first`);
  try {
    const present = loadIdentity(options.stateFolder)?.identity;
    if (present) {
      throw new Refusal(
        `this collector has joined ${present.server} already, as "${present.name}" of site "${present.site.name}": to join ` +
          `anew, revoke it there and move ${options.stateFolder} away, or give another folder with --state`,
      );
    }
    const ca = fingerprint === undefined ? undefined : await certificateOf(server, fingerprint);
    const key = makeKey(options.stateFolder);
    const answer = await send(server, ca, {
      token,
      hostname: options.hostname ?? ownName(),
      publicKey: publicKeyOf(key),
      ...(options.name === undefined ? {} : { name: options.name }),
    }).catch((error: unknown) => {
      dropKey(options.stateFolder);
      throw error;
    });
    const identity: Identity = {
      format: 1,
      server,
      path: answer.path,
      collector: answer.collectorId,
      name: answer.name,
      site: answer.site,
      generation: answer.generation,
      ...(ca === undefined ? {} : { ca }),
    };
    saveIdentity(options.stateFolder, identity);
    return identity;
  } finally {
    await lock.release();
  }
}

/** The certificate (PEM) in the server's chain with this SHA-256. Nothing is sent before it was found. */
async function certificateOf(server: string, fingerprint: string): Promise<string> {
  const url = new URL(server);
  if (url.protocol !== 'https:')
    throw new Refusal('the token names a certificate: write https:// in the address');
  const wanted = Buffer.from(fingerprint, 'base64url');
  const { connect } = await import('node:tls');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const chain = await new Promise<PeerCertificate[]>((resolve, reject) => {
    const socket = connect(
      {
        host,
        port: Number(url.port || 443),
        servername: /^[\d.]+$|:/.test(host) ? '' : host,
        rejectUnauthorized: false,
      },
      () => {
        resolve(certificates(socket.getPeerCertificate(true)));
        socket.destroy();
      },
    );
    socket.setTimeout(CONNECT_MS, () =>
      socket.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })),
    );
    socket.on('error', reject);
  }).catch((error: unknown) => {
    throw unreachable(server, error);
  });
  const { createHash } = await import('node:crypto');
  const match = chain.find(({ raw }) => createHash('sha256').update(raw).digest().equals(wanted));
  if (!match) {
    throw new Refusal(
      `${server} shows another certificate than the token says: someone may be in between, or the certificate was changed since; make a new token`,
    );
  }
  const base64 = match.raw.toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`;
}

function certificates(leaf: PeerCertificate): PeerCertificate[] {
  const found: PeerCertificate[] = [];
  for (let next: PeerCertificate | undefined = leaf; next?.raw && !found.includes(next); ) {
    found.push(next);
    next = 'issuerCertificate' in next ? (next.issuerCertificate as PeerCertificate | undefined) : undefined;
  }
  return found;
}

async function send(server: string, ca: string | undefined, body: object) {
  const address = `${server}/api/collectors/join`;
  const { status, text, headers } = await request(address, { ca, timeoutMs: CONNECT_MS, body }).catch(
    (error: unknown) => {
      throw unreachable(server, error);
    },
  );
  if (status >= 300 && status < 400) {
    throw new Refusal(
      `${server} sends us on to ${headers.location ?? 'another address'}: join with that address if it is yours`,
    );
  }
  const answer = parse(text) as { data?: unknown; error?: { message?: unknown } } | null;
  const said = typeof answer?.error?.message === 'string' ? answer.error.message : null;
  if (status === 401) {
    throw new Refusal(
      'the server does not accept this token: it works once and for an hour; make a new one under Collectors → Add',
    );
  }
  if (said && status >= 400) throw new Refusal(`${server} refuses: ${said}`);
  const data = joined.loose().safeParse(answer?.data);
  if (status !== 201 || !data.success) {
    throw new Refusal(
      `${server} does not answer like a Rollcall server (status ${status}): check address and port`,
    );
  }
  return data.data;
}

const unreachable = (server: string, error: unknown): Refusal =>
  error instanceof Refusal
    ? error
    : new Refusal(
        `cannot reach ${server}: ${connectionProblem(error) ?? `${systemReason(error)}; check address, port and firewall`}`,
      );

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
