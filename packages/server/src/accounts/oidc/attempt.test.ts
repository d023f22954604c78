import { describe, expect, it } from 'vitest';
import { keyring } from '../../platform/keys/keyring.ts';
import { ATTEMPT_MS, openAttempt, pageOf, sealAttempt } from './attempt.ts';

describe('pageOf', () => {
  it.each([
    ['/devices?q=a%20b', '/devices?q=a%20b'],
    ['/', '/'],
    [undefined, '/'],
    ['', '/'],
    ['https://evil.example', '/'],
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['/\t/evil.example', '/'],
    ['javascript:alert(1)', '/'],
    ['devices', '/'],
    ['/api/session/oidc', '/'],
    ['//api/x', '/'],
    ['/x/..//evil.example', '//evil.example'],
    ['/devices#part', '/devices'],
  ])('%j leads to %s', (to, page) => {
    expect(pageOf(to)).toBe(page);
    // Behind the public address it is always a page there.
    expect(new URL(`https://rollcall.example.net${page}`).host).toBe('rollcall.example.net');
  });
});

describe('the sealed cookie', () => {
  const ring = keyring([Buffer.alloc(32, 1)]);
  const attempt = { state: 's', nonce: 'n', verifier: 'v' };

  it('opens for ten minutes, with the key that sealed it, as it was', () => {
    const cookie = sealAttempt(ring, attempt, '/devices', 1_000);
    expect(openAttempt(ring, cookie, 1_000 + ATTEMPT_MS - 1)).toMatchObject({ ...attempt, to: '/devices' });
    expect(openAttempt(ring, cookie, 1_000 + ATTEMPT_MS)).toBeNull();
    expect(openAttempt(keyring([Buffer.alloc(32, 2)]), cookie, 1_000)).toBeNull();
    expect(openAttempt(ring, `${cookie.slice(0, -4)}AAAA`, 1_000)).toBeNull();
    expect(openAttempt(ring, 'x', 1_000)).toBeNull();
    expect(cookie).not.toContain('devices');
  });
});
