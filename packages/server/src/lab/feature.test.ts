import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../platform/db/db.ts';
import type { AuditRecord } from '../ports.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { asCaller, caller } from '../testing/rows.ts';
import { labHandlers } from './feature.ts';

const FAULT = {
  id: '019aa3c4-5b00-7000-8000-000000000001',
  kind: 'box',
  target: 'access-5',
  at: 1_764_000_000,
  restores: false,
} as const;
const TARGETS = { cable: [], box: ['access-5'], uplink: [], port: [], reboot: [], hardware: [] };
const LAB = { targets: TARGETS, faults: [FAULT], silent: ['127.20.10.39'] };

afterAll(closeDatabases);

describe.each(databases())('the lab of the demonstration on %s', (_name, open) => {
  let db: Database;
  let folder: string;
  let lab: Server;
  let asked: string[];
  let audited: AuditRecord[];
  /** What the lab answers to the next change. */
  let answer: [status: number, body: unknown];
  const audit = async (_sql: unknown, record: AuditRecord) => void audited.push(record);
  const at = (socket: string | undefined) => asCaller(labHandlers({ db, socket, audit }), caller());
  const ask = (...words: Parameters<ReturnType<typeof at>>) => at(join(folder, 'lab'))(...words);

  beforeAll(async () => {
    db = await open();
  });
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rollcall-'));
    [asked, audited] = [[], []];
    lab = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      asked.push(`${request.method} ${request.url} ${body}`.trim());
      const [status, said] = request.method === 'GET' ? [200, LAB] : answer;
      response.writeHead(status).end(JSON.stringify(said));
    });
    await new Promise<void>((resolve) => lab.listen(join(folder, 'lab'), resolve));
  });
  afterEach(async () => {
    await new Promise((resolve) => lab.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });

  it('is read, broken and put back through its socket, and who did it is in the audit', async () => {
    expect((await ask('lab.get')).data).toEqual(LAB);
    answer = [201, FAULT];
    const body = { kind: 'box', target: 'access-5' };
    expect((await ask('lab.break', { body })).data).toEqual(FAULT);
    answer = [200, null];
    await ask('lab.repair', { params: { id: FAULT.id } });
    expect(asked.filter((one) => one !== 'GET /')).toEqual([
      `POST /faults ${JSON.stringify(body)}`,
      `DELETE /faults/${FAULT.id}`,
    ]);
    expect(audited.map(({ action, subject }) => [action, subject])).toEqual([
      ['lab.break', 'box access-5'],
      ['lab.repair', 'box access-5'],
    ]);
  });

  it.each([
    [409, 'conflict'],
    [404, 'not_found'],
    [500, 'internal'],
  ] as const)('what it refuses with %s is %s, in its words, and in no audit', async (status, code) => {
    answer = [status, { message: 'put it back first' }];
    const refused = ask('lab.break', { body: { kind: 'box', target: 'access-5' } });
    await expect(refused).rejects.toMatchObject({ code, message: 'put it back first' });
    expect(audited).toEqual([]);
  });

  it('is there for no other server', async () => {
    const none = at(undefined);
    expect((await none('lab.get')).data).toBeNull();
    await expect(none('lab.repair', { params: { id: FAULT.id } })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('says when it does not answer', async () => {
    await expect(at(join(folder, 'gone'))('lab.get')).rejects.toMatchObject({ code: 'unavailable' });
  });
});
