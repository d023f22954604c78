import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CertificateFiles, certificateFiles, ownFolder, pinOf, publishedPin } from './certificate.ts';

const DAY_MS = 86_400_000;
const NOW = Date.now();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollcall-own-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const own = async (names: string[] = [], now = NOW, publicUrl?: string): Promise<CertificateFiles> => {
  const files = await certificateFiles({ tls: { kind: 'own', names }, dataFolder: folder, publicUrl }, now);
  if (!files) throw new Error('no files');
  return files;
};
const leafOf = ({ certFile }: CertificateFiles) => new X509Certificate(readFileSync(certFile));
const authority = () => readFileSync(join(ownFolder(folder), 'authority.crt'), 'utf8');

/** Answers what a client that trusts `ca` alone gets to know, by name. */
async function ask(files: CertificateFiles, ca: string, name: string): Promise<string> {
  const server = createServer(
    { cert: readFileSync(files.certFile), key: readFileSync(files.keyFile) },
    (_request, response) => response.end('hello'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await new Promise((resolve) => {
      get({ host: '127.0.0.1', port, servername: name, ca, agent: false }, (response) => {
        response.resume();
        resolve('trusted');
      }).on('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)));
    });
  } finally {
    server.close();
  }
}

describe('a certificate of its own', () => {
  it('is vouched for by an authority that nobody else has, for the names of this host and those it was told', async () => {
    const files = await own(['rollcall.example.net'], NOW, 'https://people.example.net:8443');
    expect(await ask(files, authority(), 'localhost')).toBe('trusted');
    expect(await ask(files, authority(), 'rollcall.example.net')).toBe('trusted');
    expect(await ask(files, authority(), 'people.example.net')).toBe('trusted');
    expect(await ask(files, authority(), 'other.example.net')).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    expect(leafOf(files).subjectAltName).toMatch(/IP Address:127\.0\.0\.1/);
    expect(leafOf(files).ca).toBe(false);
    expect(pinOf(files)?.fingerprint.toString('hex')).toBe(
      new X509Certificate(authority()).fingerprint256.replaceAll(':', '').toLowerCase(),
    );
  });

  it('keeps its keys for their owner alone', async () => {
    const { keyFile } = await own();
    for (const file of [keyFile, join(ownFolder(folder), 'authority.pem')])
      expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(ownFolder(folder)).mode & 0o777).toBe(0o700);
  });

  it('is made anew when its names change, when its time runs out, when it is damaged: the same authority and key', async () => {
    const files = await own();
    const [pin, first] = [pinOf(files), leafOf(files).serialNumber];
    expect(leafOf(await own()).serialNumber).toBe(first);
    const named = leafOf(await own(['a.example.net'])).serialNumber;
    expect(named).not.toBe(first);
    expect(leafOf(await own(['a.example.net'], NOW + 200 * DAY_MS)).serialNumber).toBe(named);
    const late = leafOf(await own(['a.example.net'], NOW + 300 * DAY_MS));
    expect(late.serialNumber).not.toBe(named);
    expect(Date.parse(late.validTo) - NOW).toBeGreaterThan(600 * DAY_MS);
    writeFileSync(files.certFile, 'what a broken disk left');
    expect(leafOf(await own()).serialNumber).not.toBe(first);
    expect(pinOf(files)).toEqual(pin);
    expect(await ask(files, authority(), 'localhost')).toBe('trusted');
  });

  it('is one, however many start at once', async () => {
    const pins = await Promise.all([own(), own(), own()].map(async (files) => pinOf(await files)));
    expect(pins[1]).toEqual(pins[0]);
    expect(pins[2]).toEqual(pins[0]);
    expect(await ask(await own(), authority(), 'localhost')).toBe('trusted');
  });

  it('says in one line why it cannot be kept', async () => {
    writeFileSync(ownFolder(folder), 'a file where the folder should be');
    await expect(own()).rejects.toThrow(/cannot keep the server's own certificate in .*\/tls \(EEXIST\)/);
  });
});

describe('a pin', () => {
  it('is told only where the certificate vouches for itself and no proxy stands in front', async () => {
    const files = await own();
    expect(publishedPin({ trustedProxies: [] }, files)).toEqual(pinOf(files));
    expect(publishedPin({ trustedProxies: ['10.0.0.1'] }, files)).toBeUndefined();
    expect(publishedPin({ trustedProxies: [] }, undefined)).toBeUndefined();
    const leafAlone = join(folder, 'leaf.crt');
    writeFileSync(leafAlone, leafOf(files).toString());
    expect(pinOf({ ...files, certFile: leafAlone })).toBeUndefined();
  });
});
