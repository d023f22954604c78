/** Hands on to the lab of the demonstration what administrators break and put back in it. */
import { request } from 'node:http';
import { type Lab, labFault, lab as labSchema } from '@rollcall/shared/api/lab';
import type { Database } from '../platform/db/db.ts';
import type { Handlers } from '../platform/http/handler.ts';
import { notFound, Problem } from '../platform/problem.ts';
import type { Audit } from '../ports.ts';

interface Deps {
  db: Database;
  audit: Audit;
  /** Unix socket of the lab; undefined: this server does not run as the demonstration. */
  socket: string | undefined;
}

type Ids = 'lab.get' | 'lab.break' | 'lab.repair';

/** The lab's refusals. */
const CODES: Record<number, 'not_found' | 'conflict'> = { 404: 'not_found', 409: 'conflict' };
/** The lab is on this machine: it answers at once or not at all. */
const ANSWER_MS = 5_000;

export function labHandlers({ db, audit, socket }: Deps): Handlers<Ids> {
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    if (socket === undefined) throw notFound('lab: this server does not run as the demonstration');
    const { status, answer } = await exchange(socket, method, path, body);
    if (status < 300) return answer;
    const { message = 'the lab failed' } = answer as { message?: string };
    throw new Problem(CODES[status] ?? 'internal', message);
  };
  const read = async (): Promise<Lab> => labSchema.parse(await ask('GET', '/'));

  return {
    'lab.get': async () => ({ data: socket === undefined ? null : await read() }),

    'lab.break': async ({ actor, address, body }) => {
      const data = labFault.parse(await ask('POST', '/faults', body));
      await db.transaction((sql) =>
        audit(sql, { actor, address, action: 'lab.break', subject: `${body.kind} ${body.target}` }),
      );
      return { data };
    },

    'lab.repair': async ({ actor, address, params }) => {
      const fault = (await read()).faults.find(({ id }) => id === params.id);
      await ask('DELETE', `/faults/${params.id}`);
      const subject = fault ? `${fault.kind} ${fault.target}` : `fault ${params.id}`;
      await db.transaction((sql) => audit(sql, { actor, address, action: 'lab.repair', subject }));
      return { data: null };
    },
  };
}

function exchange(
  socketPath: string,
  method: string,
  path: string,
  body: unknown,
): Promise<{ status: number; answer: unknown }> {
  const unavailable = (cause: Error) =>
    new Problem('unavailable', `the lab of the demonstration does not answer: ${cause.message}`, { cause });
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, method, path, timeout: ANSWER_MS }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', (error) => reject(unavailable(error)));
      response.on('end', () => {
        try {
          resolve({ status: response.statusCode ?? 500, answer: JSON.parse(text) });
        } catch (error) {
          reject(unavailable(error as Error));
        }
      });
    });
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${ANSWER_MS / 1000} s`)));
    sent.on('error', (error) => reject(unavailable(error)));
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
