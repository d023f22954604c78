/**
 * A certificate authority for one server: made once, kept beside the data, signs nothing but that server's certificate.
 * Authority and key stay for good, since collectors know the server by the one and the line for new hosts names the
 * other; the certificate is made anew when its names change or its time runs out.
 */
import 'reflect-metadata';
import { createPrivateKey, createPublicKey, randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
  X509Certificate as X509Parsed,
} from '@peculiar/x509';
import { makeOnce, ownDraft, replaceFile } from '@rollcall/host/synced-file';

const { subtle } = webcrypto;
cryptoProvider.set(webcrypto as never);

const DAY_MS = 86_400_000;
/** Life of the server's own authority. */
const AUTHORITY_DAYS = 7300;
/** Life of a certificate of its own. Browsers take no longer ones (CA/Browser Forum, Baseline Requirements 6.3.2). */
const CERTIFICATE_DAYS = 397;
/** A certificate of its own is renewed when it has less than this left. */
const RENEW_DAYS = 130;
/** Certificates are valid from so long before they are made: clocks of sites may be wrong. */
const EARLY_MS = 2 * DAY_MS;
const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** The files of a certificate for these names, good for more than a third of its life. Makes what is missing. */
export async function issueOwn(
  folder: string,
  names: readonly string[],
  now: number,
): Promise<{ certFile: string; keyFile: string }> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const authority = await keptAuthority(folder, now);
  const files = { certFile: join(folder, 'server.crt'), keyFile: join(folder, 'server.key') };
  if (!existsSync(files.keyFile)) makeOnce(files.keyFile, await newKey(), 0o600);
  if (!stillGood(files.certFile, authority.certificate, names, now))
    replaceFile(
      files.certFile,
      (await sign(authority, files.keyFile, names, now)) + authority.certificate,
      0o644,
    );
  return files;
}

interface Authority {
  /** PEM. */
  certificate: string;
  key: webcrypto.CryptoKey;
}

/** Key and certificate in one file, so that there are both or none; beside it the certificate for people to import. */
async function keptAuthority(folder: string, now: number): Promise<Authority> {
  const file = join(folder, 'authority.pem');
  if (!existsSync(file)) {
    const keys = (await subtle.generateKey(ECDSA, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
    const made = await X509CertificateGenerator.createSelfSigned({
      serialNumber: serial(),
      name: `CN=Rollcall authority ${randomBytes(4).toString('hex')}`,
      notBefore: new Date(now - EARLY_MS),
      notAfter: new Date(now + AUTHORITY_DAYS * DAY_MS),
      signingAlgorithm: ECDSA,
      keys,
      extensions: [
        new BasicConstraintsExtension(true, 0, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
        await SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    makeOnce(file, (await pemOf(keys.privateKey)) + pem(made), 0o600);
  }
  const text = readFileSync(file, 'utf8');
  const certificate = `${/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(text)?.[0]}\n`;
  const copy = join(folder, 'authority.crt');
  if (!existsSync(copy)) replaceFile(copy, certificate, 0o644, ownDraft(copy));
  return { certificate, key: await keyOf(text, ['sign']) };
}

async function sign(
  { certificate, key }: Authority,
  keyFile: string,
  names: readonly string[],
  now: number,
): Promise<string> {
  const issuer = new X509Parsed(certificate);
  const pair = createPublicKey(createPrivateKey(readFileSync(keyFile)));
  const publicKey = await subtle.importKey('jwk', pair.export({ format: 'jwk' }), ECDSA, true, ['verify']);
  const made = await X509CertificateGenerator.create({
    serialNumber: serial(),
    subject: 'CN=Rollcall server',
    issuer: issuer.subject,
    notBefore: new Date(now - EARLY_MS),
    notAfter: new Date(Math.min(now + CERTIFICATE_DAYS * DAY_MS, issuer.notAfter.getTime())),
    signingAlgorithm: ECDSA,
    publicKey,
    signingKey: key,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      alternativeNames(names),
      await SubjectKeyIdentifierExtension.create(publicKey),
      await AuthorityKeyIdentifierExtension.create(issuer),
    ],
  });
  return pem(made);
}

/** Whether a certificate of ours needs no successor yet: readable, by this authority, for these names, and not late. */
function stillGood(file: string, authority: string, names: readonly string[], now: number): boolean {
  if (!existsSync(file)) return false;
  try {
    const certificate = new X509Certificate(readFileSync(file));
    const present = new X509Parsed(certificate.raw).getExtension(SubjectAlternativeNameExtension);
    return (
      present !== null &&
      Buffer.from(present.value).equals(Buffer.from(alternativeNames(names).value)) &&
      certificate.verify(new X509Certificate(authority).publicKey) &&
      Date.parse(certificate.validFrom) <= now &&
      Date.parse(certificate.validTo) - now > RENEW_DAYS * DAY_MS
    );
  } catch {
    return false;
  }
}

const alternativeNames = (names: readonly string[]): SubjectAlternativeNameExtension =>
  new SubjectAlternativeNameExtension(names.map((value) => ({ type: isIP(value) ? 'ip' : 'dns', value })));

/** Positive, as RFC 5280 (4.1.2.2) wants it. */
const serial = (): string => `01${randomBytes(15).toString('hex')}`;
const pem = (certificate: X509Parsed): string => `${certificate.toString('pem').trim()}\n`;

async function newKey(): Promise<string> {
  const { privateKey } = (await subtle.generateKey(ECDSA, true, [
    'sign',
    'verify',
  ])) as webcrypto.CryptoKeyPair;
  return pemOf(privateKey);
}

async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await subtle.exportKey('pkcs8', key));
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({
    type: 'pkcs8',
    format: 'pem',
  }) as string;
}

const keyOf = (text: string, uses: webcrypto.KeyUsage[]): Promise<webcrypto.CryptoKey> =>
  subtle.importKey(
    'pkcs8',
    createPrivateKey(text).export({ type: 'pkcs8', format: 'der' }),
    ECDSA,
    false,
    uses,
  );
