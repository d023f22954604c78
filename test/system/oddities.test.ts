import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent } from '@rollcall/lab/agent';
import { misordered } from '@rollcall/lab/testing/misordered';
import { PUBLIC, replay, responderOf, serveRecording } from '@rollcall/lab/testing/replay';
import { Wire } from '@rollcall/lab/wire';
import { compareOid } from '@rollcall/shared/oid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/**
 * What recordings of real devices are odd in, each oddity an agent of its own, swept from the command line: every one of
 * them is walked to the end, or to where walking on would be unsafe, and says what it has.
 */
const COLLECTOR = fileURLToPath(
  new URL('../../packages/collector/bin/rollcall-collector.js', import.meta.url),
);
const PORT = 16_205;

const IF = '1.3.6.1.2.1.2.2.1';
const system = (more = '') =>
  `1.3.6.1.2.1.1.1.0|4|Odd box 7\n1.3.6.1.2.1.1.2.0|6|1.3.6.1.4.1.99999.7\n${more}`;
const interfaces = (columns: number[], rows = 3) =>
  columns
    .flatMap((column) =>
      Array.from({ length: rows }, (_, i) => {
        const cell = { 1: `2|${i + 1}`, 2: `4|port ${i + 1}`, 3: '2|6', 5: '66|1000', 8: '2|1' }[column];
        return `${IF}.${column}.${i + 1}|${cell}`;
      }),
    )
    .join('\n');
const long = (octets: number) => Buffer.alloc(octets, 'x').toString('hex');

/** Name → lines of the recording, and what a sweep must say: interface rows and a member of `system`. */
const ODDITIES: Record<string, { lines: string; rows: number; sysDescr?: string | undefined }> = {
  'ifTable without ifIndex': { lines: system(interfaces([2, 3, 5, 8])), rows: 3 },
  'ifTable with descriptions alone': { lines: system(interfaces([2])), rows: 3 },
  'ifXTable alone': {
    lines: system('1.3.6.1.2.1.31.1.1.1.1.1|4|a\n1.3.6.1.2.1.31.1.1.1.1.2|4|b'),
    rows: 2,
  },
  'values of 5 KB': {
    lines: system(
      `${interfaces([1, 2])}\n1.3.6.1.2.1.17.7.1.4.2.1.4.0.1|4x|${long(5000)}\n1.3.6.1.2.1.17.7.1.4.2.1.4.0.2|4x|${long(5000)}`,
    ),
    rows: 3,
  },
  'no sysDescr': {
    lines: `1.3.6.1.2.1.1.2.0|6|1.3.6.1.4.1.99999.7\n${interfaces([1, 2])}`,
    rows: 3,
    sysDescr: undefined,
  },
  'no sysObjectID': { lines: '1.3.6.1.2.1.1.1.0|4|Odd box 7', rows: 0 },
  'values NULL': { lines: system(`1.3.6.1.2.1.1.5.0|5|\n${IF}.1.1|5|\n${IF}.2.1|4|port 1`), rows: 1 },
  'octets that are no text': {
    lines: `1.3.6.1.2.1.1.1.0|4x|${Buffer.from('Odd\0box \x1b[31m\xfc', 'latin1').toString('hex')}\n1.3.6.1.2.1.1.2.0|6|1.3.6.1.4.1.9`,
    rows: 0,
    sysDescr: 'Odd\\x00box \\x1b[31mü',
  },
  'indexes at the end of 31 bits': { lines: system(`${IF}.2.2147483647|4|last`), rows: 1 },
};

interface Line {
  address: string;
  outcome: string;
  system: { sysDescr?: string };
  /** OID → octets in hex. */
  raw?: Record<string, string>;
  failed?: Record<string, string>;
  tables: Record<string, { complete: boolean; reason?: string; rows: object[] }>;
}

async function sweep(targets: string): Promise<Map<string, Line>> {
  const child = spawn(
    process.execPath,
    [
      COLLECTOR,
      'sweep',
      targets,
      '--profile',
      'deep',
      '--json',
      '--community',
      'public',
      '--snmp-port',
      String(PORT),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let out = '';
  let err = '';
  child.stdout.on('data', (part) => {
    out += part;
  });
  child.stderr.on('data', (part) => {
    err += part;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
  const lines = out
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text) as Line);
  return new Map(lines.map((line) => [line.address, line]));
}

describe('a sweep of odd agents', () => {
  const wire = new Wire(PORT);
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-odd-'));
  const names = [...Object.keys(ODDITIES), 'a further context', 'wrong order'];
  const addressOf = (name: string) => `127.42.${names.indexOf(name)}.1`;
  let found: Map<string, Line>;

  const write = (name: string, lines: string) => {
    const file = join(folder, `${name.replaceAll(' ', '-')}.snmprec`);
    writeFileSync(file, `${lines}\n`);
    return file;
  };
  beforeAll(async () => {
    for (const [name, { lines }] of Object.entries(ODDITIES))
      await serveRecording(wire, addressOf(name), write(name, lines));
    // A switch that shows the forwarding table of a VLAN in a context of its own (`public@20`).
    const vlans = '1.3.6.1.4.1.9.9.46.1.3.1.1.2.1.1|2|1\n1.3.6.1.4.1.9.9.46.1.3.1.1.2.1.20|2|1';
    const station = [
      '1.3.6.1.2.1.17.1.4.1.2.7|2|3',
      '1.3.6.1.2.1.17.4.3.1.1.0.17.34.51.68.85|4x|001122334455',
      '1.3.6.1.2.1.17.4.3.1.2.0.17.34.51.68.85|2|7',
      '1.3.6.1.2.1.17.4.3.1.3.0.17.34.51.68.85|2|3',
    ].join('\n');
    const cisco = `1.3.6.1.2.1.1.1.0|4|Cisco IOS\n1.3.6.1.2.1.1.2.0|6|1.3.6.1.4.1.9.1.1208\n${interfaces([1, 2])}\n${vlans}`;
    write('ctx@20', station);
    await serveRecording(wire, addressOf('a further context'), write('ctx', cisco));
    // Rows of ifDescr sorted as text: 1, 10, 11, 12, 2, 3 …
    const { contexts } = await replay(write('unsorted', system(interfaces([1, 2], 12))));
    const mib = contexts.get('');
    if (!mib) throw new Error('no recording');
    const view = misordered(mib, `${IF}.2`, (a, b) =>
      a.oid < b.oid ? -1 : a.oid > b.oid ? 1 : compareOid(a.oid, b.oid),
    );
    const agent = new Agent({
      contexts: () => new Map([['', view]]),
      access: [PUBLIC],
      engineId: Buffer.from('80001f8804', 'hex'),
      seconds: () => 1,
      maxMessageSize: 1400,
    });
    await wire.attach(addressOf('wrong order'), responderOf(agent));
    found = await sweep(names.map(addressOf).join(','));
  }, 60_000);
  afterAll(async () => {
    await wire.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(Object.entries(ODDITIES))('%s', (name, { rows, ...what }) => {
    const line = found.get(addressOf(name));
    expect(line?.outcome).toBe('snmp');
    expect(line?.failed ?? {}).toEqual({});
    const partial = Object.entries(line?.tables ?? {}).filter(([, table]) => !table.complete);
    expect(partial).toEqual([]);
    expect(line?.tables.interfaces?.rows ?? []).toHaveLength(rows);
    if ('sysDescr' in what) expect(line?.system.sysDescr).toBe(what.sysDescr);
  });

  it('keeps the octets of text that cannot be shown as it is, and of no other', () => {
    const raw = Object.keys(ODDITIES).map((name) => found.get(addressOf(name))?.raw);
    expect(raw.filter(Boolean)).toEqual([{ '1.3.6.1.2.1.1.1.0': '4f646400626f78201b5b33316dfc' }]);
  });

  it('a further context', () => {
    const line = found.get(addressOf('a further context'));
    expect(line?.tables.fdb).toMatchObject({
      complete: true,
      rows: [{ mac: '00:11:22:33:44:55', ifIndex: 3, vlan: 20 }],
    });
  });

  it('wrong order: what came until a step back is kept, and flagged with the reason', () => {
    const line = found.get(addressOf('wrong order'));
    expect(line?.outcome).toBe('snmp');
    expect(line?.tables.interfaces).toMatchObject({ complete: false, reason: 'not-increasing' });
    // The column in order tells of every row, the other one of those before the step back: 1, 10, 11, 12.
    const rows = line?.tables.interfaces?.rows as { ifIndex: number; ifDescr?: string }[];
    expect(rows.filter(({ ifDescr }) => ifDescr !== undefined).map(({ ifIndex }) => ifIndex)).toEqual([
      1, 10, 11, 12,
    ]);
  });
});
