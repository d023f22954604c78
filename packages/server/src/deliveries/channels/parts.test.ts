import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { mailOf } from './mail.ts';
import type { Payload } from './message.ts';
import { newSecret, signatures } from './signature.ts';
import { guardedLookup, parseTarget, refusedAddress } from './ssrf-guard.ts';

describe('signatures', () => {
  it('are those of Standard Webhooks', () => {
    // The example of the specification's reference libraries.
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const signed = {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: 1_614_265_330,
      body: '{"test": 2432232314}',
    };
    expect(signatures([secret], signed)).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('are one for each secret, of 24 to 64 random bytes', () => {
    const [a, b] = [newSecret(), newSecret()];
    expect(a).not.toBe(b);
    expect(Buffer.from(a.slice(6), 'base64')).toHaveLength(32);
    const [first, second, ...more] = signatures([a, b], { id: 'i', timestamp: 1, body: 'x' }).split(' ');
    const of = (secret: string) =>
      `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
        .update('i.1.x')
        .digest('base64')}`;
    expect([first, second, more]).toEqual([of(a), of(b), []]);
  });
});

describe('targets', () => {
  it.each([
    'https://127.0.0.1/',
    'http://[::1]/',
    'https://10.1.2.3/hook',
    'https://192.168.1.1',
    'https://172.31.0.1/',
    'http://169.254.169.254/latest/meta-data',
    'https://[fe80::1]/',
    'https://[fd00::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://0.0.0.0/',
    'https://100.64.0.1/',
    'https://224.0.0.1/',
    'https://0x7f.1/',
    'https://2130706433/',
    'https://[64:ff9b::a00:1]/',
    'https://[2002:a00:1::]/',
    'https://[::127.0.0.1]/',
    'https://[64:ff9b:1::a00:1]/',
  ])('attack: %s is refused unless it is allowed', (url) => {
    expect(() => parseTarget(url, false)).toThrow('must be allowed');
    expect(parseTarget(url, true).href).toContain('//');
  });
  it.each([
    ['ftp://example.net/', 'http or https'],
    ['https://user:pass@example.net/', 'user name'],
    ['example.net/hook', 'an address'],
    ['file:///etc/passwd', 'http or https'],
  ])('never takes %s', (url, reason) => {
    expect(() => parseTarget(url, true)).toThrow(reason);
  });
  it('takes what is public', () => {
    expect(parseTarget('https://example.net/hook?a=b', false).hostname).toBe('example.net');
    expect(refusedAddress('93.184.216.34')).toBeNull();
    expect(refusedAddress('2606:2800:220:1::1')).toBeNull();
  });

  const look = (found: string[], allowPrivate: boolean, all: boolean) =>
    new Promise((resolve) => {
      const guarded = guardedLookup(allowPrivate, (_host, done) =>
        done(
          null,
          found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
        ),
      );
      guarded('name.example', { all }, (error, address) => resolve(error ? error.message : address));
    });
  it('connects to an address that was checked, whatever a name answers beside it', async () => {
    expect(await look(['10.0.0.1', '93.184.216.34'], false, false)).toBe('93.184.216.34');
    expect(await look(['10.0.0.1', '93.184.216.34'], false, true)).toEqual([
      { address: '93.184.216.34', family: 4 },
    ]);
    expect(await look(['127.0.0.1', '::1'], false, true)).toContain('must be allowed');
    expect(await look(['127.0.0.1'], true, false)).toBe('127.0.0.1');
    expect(await look([], false, false)).toContain('no address');
  });
});

describe('mail', () => {
  const payload: Payload = {
    type: 'case.opened',
    timestamp: 1,
    data: {
      case: {
        id: 'c',
        number: 7,
        siteId: 's',
        title: 'core\r\nBcc: x@example.net does not answer',
        status: 0,
        severity: 2,
        priority: 3,
        assignee: null,
        tags: [],
        eventCount: 12,
        openEventCount: 12,
        rootDeviceId: null,
        createdAt: 1,
        resolvedAt: null,
      },
      site: { id: 's', name: 'Berlin' },
      events: [{ id: 'e', kind: 'device.down', severity: 2, message: 'core does not answer', firstSeen: 1 }],
      url: 'https://rollcall.example.net/cases/c',
    },
  };
  it('says in one line what happened, and the rest in a few', () => {
    const { subject, text, thread } = mailOf(payload);
    expect(subject).toBe('[Berlin] #7: core Bcc: x@example.net does not answer');
    expect(text).toMatch(/^Opened: core/);
    expect(text).toContain('- core does not answer\n  and 11 more\n');
    expect(text).toContain('https://rollcall.example.net/cases/c');
    expect(thread).toBe('<case-c@rollcall>');
    // Another subject is another conversation for mail programs.
    expect(mailOf({ ...payload, type: 'case.resolved' })).toMatchObject({ subject, thread, first: false });
  });
});
