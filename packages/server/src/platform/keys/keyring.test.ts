import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@rollcall/host/testing/folder';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StartError } from '../ops/config.ts';
import { keyring, openKeyring, readKeyLines, SealBroken } from './keyring.ts';

const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const here = { table: 'credentials', row: 'a' };

describe('a keyring', () => {
  it('opens what it sealed, any text, never twice the same way', () => {
    const ring = keyring([NEW]);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const { sealed, keyId } = ring.seal(here, text);
        expect(ring.open(here, keyId, sealed)).toBe(text);
        expect(ring.seal(here, text).sealed.equals(sealed)).toBe(false);
      }),
    );
  });

  it('case 148: opens nothing of which a bit is wrong, that was moved, or that another key sealed', () => {
    const ring = keyring([NEW]);
    const { sealed, keyId } = ring.seal(here, 'community of the core');
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const broken = Buffer.from(sealed);
      broken[bit >> 3] = (broken[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => ring.open(here, keyId, broken)).toThrow(SealBroken);
    }
    expect(() => ring.open({ ...here, row: 'b' }, keyId, sealed)).toThrow(SealBroken);
    expect(() => ring.open({ ...here, table: 'x' }, keyId, sealed)).toThrow(SealBroken);
    expect(() => ring.open(here, keyId, sealed.subarray(0, 10))).toThrow(SealBroken);
    expect(() => keyring([OLD]).open(here, keyId, sealed)).toThrow(/not in the key file/);
  });

  it('seals with the newest key and opens with all', () => {
    const before = keyring([OLD]).seal(here, 'x');
    const ring = keyring([NEW, OLD]);
    expect(ring.open(here, before.keyId, before.sealed)).toBe('x');
    expect(ring.seal(here, 'x').keyId).not.toBe(before.keyId);
  });

  it('fingerprints equal texts alike, and differently under another key', () => {
    const ring = keyring([NEW]);
    expect(ring.fingerprint('public')).toBe(ring.fingerprint('public'));
    expect(ring.fingerprint('public')).toMatch(/^[0-9a-f]{8}$/);
    expect(ring.fingerprint('public')).not.toBe(ring.fingerprint('private'));
    expect(ring.fingerprint('public')).not.toBe(keyring([OLD]).fingerprint('public'));
  });
});

describe('the key file', () => {
  it('is made once, for the owner alone, and read again', () => {
    const at = temporaryFolder();
    const first = openKeyring({ folder: at });
    const file = join(at, 'credential.keys');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(openKeyring({ folder: at }).keyId).toBe(first.keyId);
  });

  it('is refused when others can read it, when it is damaged, and when the named one is missing', () => {
    const at = temporaryFolder();
    openKeyring({ folder: at });
    const file = join(at, 'credential.keys');
    chmodSync(file, 0o640);
    expect(() => openKeyring({ folder: at })).toThrow(/chmod 600/);
    chmodSync(file, 0o600);
    writeFileSync(file, 'short\n');
    expect(() => openKeyring({ folder: at })).toThrow(/base64 keys of 32 bytes/);
    const none = join(at, 'none');
    const missing = `cannot read the key file ${none} (ENOENT), which opens the stored SNMP credentials: put it back`;
    for (const read of [() => openKeyring({ folder: at, file: none }), () => readKeyLines(none)]) {
      expect(read).toThrow(missing);
      expect(read, 'a line without a stack, which names the setting').toThrow(StartError);
      expect(read).toThrow(/ROLLCALL_KEY_FILE/);
    }
    expect(() => openKeyring({ folder: at, file: at })).toThrow(/cannot read the key file .* \(EISDIR\)/);
  });

  it('may come from the unit, and may hold older keys behind the newest', () => {
    const [at, unit] = [temporaryFolder(), temporaryFolder()];
    writeFileSync(
      join(unit, 'credential.keys'),
      `# newest first\n${NEW.toString('base64')}\n${OLD.toString('base64')}\n`,
    );
    const ring = openKeyring({ folder: at, credentialsDirectory: unit });
    expect(ring.keyId).toBe(keyring([NEW]).keyId);
    const old = keyring([OLD]).seal(here, 'x');
    expect(ring.open(here, old.keyId, old.sealed)).toBe('x');
    expect(openKeyring({ folder: at, credentialsDirectory: temporaryFolder() }).keyId).not.toBe(ring.keyId);
    expect(readFileSync(join(at, 'credential.keys'), 'utf8')).toMatch(/^[A-Za-z0-9+/]{43}=\n$/);
  });
});
