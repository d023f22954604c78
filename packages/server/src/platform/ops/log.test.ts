import { Secret } from '@rollcall/shared/secret';
import { describe, expect, it } from 'vitest';
import { mintToken } from '../access/token.ts';
import { openLog } from './log.ts';

const capture = (terminal = false) => {
  const lines: string[] = [];
  const log = openLog(
    { logLevel: 'trace' },
    { destination: { write: (line) => void lines.push(line) }, terminal },
  );
  return { log, text: () => lines.join('') };
};

describe('the log', () => {
  it('G147 CVE-2021-20178 writes no secret, however it comes', () => {
    const { log, text } = capture();
    const token = mintToken().plaintext;
    log.info({ community: new Secret('CANARY-1'), nested: { key: new Secret('CANARY-2') } }, 'typed');
    log.info({ url: `https://x/?a=${token}` }, `said ${token}`);
    log.error({ err: new Error('cannot reach postgres://user:CANARY-3@db:5432/x') }, 'error');
    const foreign = Object.assign(new Error('wrong digest'), {
      user: { authKey: 'CANARY-4' },
      code: 'EDIGEST',
    });
    log.error({ err: new Error('outer', { cause: foreign }) }, 'foreign');
    log.error({ err: { password: 'CANARY-5' } }, 'thrown object');
    expect(text()).not.toMatch(/CANARY/);
    expect(text()).not.toContain(token);
    expect(text()).toContain('EDIGEST');
  });

  it('G146 keeps text of devices on one line, and off the terminal', () => {
    const evil = 'name\r\nFAKE {"level":"info"}\u001b[2Jx\u009b31m';
    const json = capture();
    json.log.info({ sysName: evil }, 'device');
    expect(json.text().trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(json.text()).sysName).toBe(evil);
    const terminal = capture(true);
    terminal.log.info({ sysName: evil }, evil);
    const shown: { sysName: string; msg: string } = JSON.parse(terminal.text());
    for (const steering of ['\u001b', '\u009b']) expect(shown.sysName + shown.msg).not.toContain(steering);
  });
});
