/**
 * The certificate that the server shows: files that were given, or its own, signed by an authority of its own that it
 * makes once. What a new host needs to recognise it (its pin) goes into join tokens and into the line for new hosts.
 */
import { createHash, sign, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { hostname, type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '@rollcall/shared/clock';
import { signedSuccessor } from '@rollcall/shared/signed-texts';
import type { Logger } from 'pino';
import { type Config, StartError } from '../ops/config.ts';

/** PEM files: the certificate with its chain, and its private key. Absolute paths. */
export interface CertificateFiles {
  certFile: string;
  keyFile: string;
}

/** How a new host recognises a server whose certificate no public authority signed. */
export interface Pin {
  /** SHA-256 of the root certificate (DER) that the server shows: for collectors. */
  fingerprint: Buffer;
  /** `sha256//` and base64 of the SHA-256 of the certificate's public key: for curl's --pinnedpubkey. */
  publicKey: string;
}

/** How often the certificate is held against its files and this host's addresses. */
const LOOK_MS = 60_000;

/** The files of the settings; the server's own are made, or renewed, where they are due. Undefined: plain HTTP. */
export async function certificateFiles(
  { tls, dataFolder, publicUrl }: Pick<Config, 'tls' | 'dataFolder' | 'publicUrl'>,
  now: number,
): Promise<CertificateFiles | undefined> {
  if (tls?.kind !== 'own') return tls;
  const { issueOwn } = await import('./own-authority.ts');
  try {
    return await issueOwn(ownFolder(dataFolder), ownNames(tls.names, publicUrl), now);
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    throw new StartError(
      `cannot keep the server's own certificate in ${ownFolder(dataFolder)} (${code}): make the folder writable`,
      error,
    );
  }
}

/** As `certificateFiles`, and keeps its own fresh from then on; the servers read them when they change. */
export async function openCertificate(
  config: Pick<Config, 'tls' | 'dataFolder' | 'publicUrl'>,
  { clock, log }: { clock: Clock; log: Logger },
): Promise<{ files: CertificateFiles | undefined; stop(): void }> {
  const files = await certificateFiles(config, clock.now());
  if (config.tls?.kind !== 'own') return { files, stop: () => undefined };
  const look = async () => {
    await certificateFiles(config, clock.now()).catch((error: Error) =>
      log.error({ err: error }, 'the own certificate could not be renewed'),
    );
  };
  return { files, stop: clock.every(LOOK_MS, look) };
}

/** Where the server's own certificate lies. */
export const ownFolder = (dataFolder: string): string => join(dataFolder, 'tls');

/**
 * The pin of a certificate file whose last certificate signed itself: an authority of our own, or a company's that was
 * put there on purpose. Undefined where others vouch: what they use may change at each renewal. Throws where the file
 * cannot be read.
 */
export function pinOf({ certFile }: CertificateFiles): Pin | undefined {
  const [leaf, ...above] = certificatesIn(certFile);
  const root = above.at(-1) ?? leaf;
  if (!leaf || !root || !(root.checkIssued(root) && root.verify(root.publicKey))) return undefined;
  const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();
  const key = leaf.publicKey.export({ type: 'spki', format: 'der' });
  return { fingerprint: sha256(root.raw), publicKey: `sha256//${sha256(key).toString('base64')}` };
}

/** The pin to hand out. Where a reverse proxy stands in front, new hosts see its certificate and not ours. */
export function publishedPin(
  { trustedProxies }: Pick<Config, 'trustedProxies'>,
  files: CertificateFiles | undefined,
): Pin | undefined {
  return files && trustedProxies.length === 0 ? pinOf(files) : undefined;
}

/**
 * The word of our own authority for another certificate that is shown now: collectors that know the server by the one
 * take the other for the same server. Undefined where the own certificate is shown, or no authority was ever made.
 */
export function crossSignature(
  { tls, dataFolder }: Pick<Config, 'tls' | 'dataFolder'>,
  files: CertificateFiles | undefined,
  log: Logger,
): string | undefined {
  const authority = join(ownFolder(dataFolder), 'authority.pem');
  if (!files || tls?.kind === 'own' || !existsSync(authority)) return undefined;
  try {
    const [leaf] = certificatesIn(files.certFile);
    const text = leaf && signedSuccessor(createHash('sha256').update(leaf.raw).digest('hex'));
    return text && sign('sha256', Buffer.from(text), readFileSync(authority, 'utf8')).toString('base64');
  } catch (error) {
    log.error(
      { err: error },
      'collectors that joined by the own authority cannot follow to this certificate',
    );
    return undefined;
  }
}

/** The certificates of a PEM file, as they stand in it. @throws StartError where it cannot be read. */
export const certificatesIn = (file: string): X509Certificate[] =>
  (pemTextOf(file).match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(
    (pem) => new X509Certificate(pem),
  );

function pemTextOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw cannotReadPem(error);
  }
}

/** Why a certificate or its key cannot be read, and what to do. */
export function cannotReadPem(error: unknown): StartError {
  const { path, code } = error as NodeJS.ErrnoException;
  return new StartError(
    `cannot read ${path ?? 'a certificate file'} (${code}): put the file there and make it readable for this user, or ` +
      'change ROLLCALL_TLS_CERT and ROLLCALL_TLS_KEY (tls.cert and tls.key in server.yaml)',
    error,
  );
}

function interfaceAddresses(): NetworkInterfaceInfo[] {
  try {
    return Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  } catch {
    // A sandbox without netlink sockets; its names are left.
    return [];
  }
}

/** Every name and address that this host is known by, without those that mean nothing elsewhere; sorted. */
export function ownNames(more: readonly string[], publicUrl: string | undefined): string[] {
  const far = interfaceAddresses()
    .filter(({ internal, scopeid }) => !internal && !scopeid)
    .map(({ address }) => address);
  const told = publicUrl === undefined ? [] : [new URL(publicUrl).hostname.replace(/^\[|\]$/g, '')];
  const names = [hostname(), 'localhost', '127.0.0.1', '::1', ...far, ...told, ...more];
  return [...new Set(names.map((name) => name.toLowerCase()))].sort();
}
