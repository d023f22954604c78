import { describe, expect, it } from 'vitest';
import { containsToken, hashOf, isToken, mintToken, withoutTokens } from './token.ts';

describe('API tokens', () => {
  it('have the documented form, 160 random bits and more, and no two alike', () => {
    const minted = Array.from({ length: 500 }, mintToken);
    for (const { plaintext, hash, hint } of minted) {
      expect(plaintext).toMatch(/^svc_[0-9A-Za-z]{40}$/);
      expect(isToken(plaintext)).toBe(true);
      expect(hash).toEqual(hashOf(plaintext));
      expect(plaintext.endsWith(hint)).toBe(true);
    }
    expect(new Set(minted.map((m) => m.plaintext)).size).toBe(500);
    expect(34 * Math.log2(62)).toBeGreaterThanOrEqual(160);
  });

  it('are told from mistyped ones by their checksum', () => {
    const { plaintext } = mintToken();
    for (let at = 4; at < plaintext.length; at++) {
      const other = plaintext[at] === 'A' ? 'B' : 'A';
      expect(isToken(plaintext.slice(0, at) + other + plaintext.slice(at + 1))).toBe(false);
    }
    expect(isToken(plaintext.toUpperCase())).toBe(false);
    expect(isToken(`${plaintext}\n`)).toBe(false);
    expect(isToken(plaintext.slice(4))).toBe(false);
  });

  it('are found and struck out inside other text', () => {
    const { plaintext } = mintToken();
    expect(containsToken(`token=${plaintext}&x=1`)).toBe(true);
    expect(withoutTokens(`a ${plaintext} b`)).toBe('a svc_*** b');
    expect(containsToken('search=svc_mail')).toBe(false);
  });
});
