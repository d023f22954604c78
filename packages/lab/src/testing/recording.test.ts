import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { skipped } from '@rollcall/shared/testing/skipped';
import type { Value } from '@rollcall/snmp/message/pdu';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Agent } from '../agent.ts';
import { walk } from './client.ts';
import { decodeValue, mibOf, parseRecording, readRecording } from './recording.ts';
import { recordingsIn } from './replay.ts';

const corpus = join(process.env.ROLLCALL_CORPUS ?? '', 'dev/recordings');

describe('values of a recording', () => {
  const table: [line: string, value: Value][] = [
    ['2|-5', { type: 'integer', value: -5 }],
    ['4|  text with | and ü ', { type: 'octets', value: Buffer.from('  text with | and ü ') }],
    ['4|', { type: 'octets', value: Buffer.alloc(0) }],
    ['4x|00127962f940', { type: 'octets', value: Buffer.from('00127962f940', 'hex') }],
    ['4x|', { type: 'octets', value: Buffer.alloc(0) }],
    ['4e|\\xe8(\\xc1\\\\\\n}\\x00', { type: 'octets', value: Buffer.from([0xe8, 40, 0xc1, 92, 10, 125, 0]) }],
    ['5|', { type: 'null', value: null }],
    ['6|1.3.6.1.4.1.9', { type: 'oid', value: '1.3.6.1.4.1.9' }],
    ['6|.1.3.6', { type: 'oid', value: '1.3.6' }],
    ['64|10.0.0.1', { type: 'ipaddress', value: '10.0.0.1' }],
    ['64x|c3dafe61', { type: 'ipaddress', value: '195.218.254.97' }],
    ['65|4294967295', { type: 'counter32', value: 4_294_967_295 }],
    ['66|7', { type: 'gauge32', value: 7 }],
    ['67|100', { type: 'timeticks', value: 100 }],
    ['68x|9f780441200000', { type: 'opaque', value: Buffer.from('9f780441200000', 'hex') }],
    ['70|18446744073709551615', { type: 'counter64', value: 18_446_744_073_709_551_615n }],
  ];
  it.each(table)('%s', (line, value) => {
    expect(decodeValue(line)).toEqual(value);
    const { entries, faults } = parseRecording(`1.3.6.1|${line}`);
    expect([entries.length, faults]).toEqual([1, []]);
  });

  it('reads octets back whatever they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const buffer = Buffer.from(bytes);
        const escaped = [...buffer].map((b) => `\\x${b.toString(16).padStart(2, '0')}`).join('');
        expect(decodeValue(`4x|${buffer.toString('hex')}`).value).toEqual(buffer);
        expect(decodeValue(`4e|${escaped}`).value).toEqual(buffer);
      }),
    );
  });
});

describe('parseRecording', () => {
  it('reports bad lines with their numbers and serves the rest', () => {
    const { entries, faults } = parseRecording(
      [
        '1.3.1|2|1',
        '',
        '1.3.2|99|x',
        'nonsense',
        '1.x|2|1',
        '1.3.3|2|abc',
        '1.3.4|64|1.2.3',
        '1.3.5|4x|abc',
        '1.3.6|4|ok',
      ].join('\n'),
    );
    expect(entries.map(([oid]) => oid)).toEqual(['1.3.1', '1.3.6']);
    expect(faults).toEqual([
      { line: 3, reason: 'unknown tag' },
      { line: 4, reason: 'no tag' },
      { line: 5, reason: 'bad oid' },
      { line: 6, reason: 'bad value' },
      { line: 7, reason: 'bad value' },
      { line: 8, reason: 'bad value' },
    ]);
  });

  it('takes CRLF, leading dots and any order', () => {
    const mib = mibOf(parseRecording('.1.3.10|2|10\r\n.1.3.9|2|9\r\n1.3.9.1|4|a\r\n'));
    expect([...mib.under()].map((o) => o.oid)).toEqual(['1.3.9', '1.3.9.1', '1.3.10']);
    expect(mib.get('1.3.9.1')?.value).toEqual(Buffer.from('a'));
  });

  it('never throws on any text, and what it takes can be decoded', () => {
    const line = fc.tuple(fc.string(), fc.string(), fc.string()).map((parts) => parts.join('|'));
    const nearly = fc
      .tuple(
        fc.constantFrom('1.3.6', '.1.3.7', '1', ''),
        fc.constantFrom('2', '4', '4x', '4e', '6', '64', '70', '5', '3'),
        fc.string(),
      )
      .map((parts) => parts.join('|'));
    fc.assert(
      fc.property(fc.array(fc.oneof(line, nearly), { maxLength: 10 }), (lines) => {
        for (const _ of mibOf(parseRecording(lines.join('\n'))).under());
      }),
    );
  });

  it('lets sysUpTime go on from the recorded value', () => {
    let seconds = 0;
    const mib = mibOf(parseRecording('1.3.6.1.2.1.1.3.0|67|500'), { uptime: () => seconds });
    seconds = 2.5;
    expect(mib.get('1.3.6.1.2.1.1.3.0')).toEqual({ type: 'timeticks', value: 750 });
  });
});

/** Recordings of real devices are third-party data outside the repository; without them these tests say so. */
if (!existsSync(corpus)) skipped('recordings of real devices: set ROLLCALL_CORPUS to their folder');
describe.skipIf(!existsSync(corpus))(`recordings of real devices (${corpus})`, () => {
  it('are all read without a fault, and a sample of them is walked object by object', async () => {
    const recordings = await recordingsIn(corpus);
    expect(recordings.length).toBe(1134);
    for (const [i, { name, path }] of recordings.entries()) {
      const recording = await readRecording(path);
      expect([name, recording.faults]).toEqual([name, []]);
      if (i % 40 !== 0) continue;
      const mib = mibOf(recording);
      const agent = new Agent({
        contexts: () => new Map([['', mib]]),
        access: [{ version: 'v2c', community: 'public' }],
        engineId: Buffer.from('8000000001020304', 'hex'),
        seconds: () => 0,
        maxMessageSize: 65_507,
      });
      const served = walk((datagram) => agent.answer(datagram), 50);
      expect([name, served.length]).toEqual([name, mib.size]);
      for (const varbind of served)
        expect(mib.get(varbind.oid)).toMatchObject({ type: varbind.type, value: varbind.value });
    }
  }, 240_000);
});
