/**
 * Requests made after the published description and bent: no answer may be a 5xx, and every answer must be one that
 * the description promises. A failure names its seed; FUZZ_SEED repeats it, FUZZ_REQUESTS makes it longer.
 */
import { Agent, request as httpRequest } from 'node:http';
import type { Database } from '@rollcall/server/platform/db/db';
import { closeDatabases } from '@rollcall/server/testing/database';
import { ask } from '@rollcall/server/testing/rest';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Attack,
  attack,
  type Described,
  type Document,
  type Ground,
  groundsOf,
  pick,
  randomOf,
} from '../api/hostile.ts';
import { type Row, rows } from '../api/rows.ts';
import { type ApiServer, oneKind, startApi } from '../api/server.ts';
import { makeWorld, person, type World } from '../api/world.ts';

afterAll(closeDatabases);

const SEED = Number(process.env.FUZZ_SEED ?? 20_261_121);
/** Of every run of CI; the seed is the same, so that what it finds is of the change at hand. Before a release: 60,000. */
const REQUESTS: Record<string, number> = {
  pglite: Number(process.env.FUZZ_REQUESTS ?? 3_000),
  postgresql: Number(process.env.FUZZ_REQUESTS ?? 5_000),
};
const AT_ONCE = 4;
/** Requests on one world. */
const ROUND = 500;
/** Answers of HTTP itself, before any operation: Node refuses what is no request, or too long a head. */
const BEFORE_ANY = new Set([400, 404, 405, 431]);
/** What would only fuzz the fuzzer: a stream has no end, signing in is throttled by design. */
const LEFT_OUT = new Set(['stream.open', 'session.create', 'session.password', 'session.delete']);

interface Answer {
  status: number;
  type: string;
  text: string;
}

describe.each(oneKind())('the schema-driven fuzzer on %s', (name) => {
  let db: Database;
  let server: ApiServer;
  let world: World;
  let document: Document;
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

  beforeAll(async () => {
    server = await startApi(name);
    db = server.db;
    // It makes subscriptions up as well, with targets outside: what would go there stays queued.
    await db.query(`CREATE FUNCTION stays() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN NEW.next_at := NULL; RETURN NEW; END $$`);
    await db.query(`CREATE TRIGGER stays BEFORE INSERT OR UPDATE ON deliveries
      FOR EACH ROW EXECUTE FUNCTION stays()`);
    document = (await ask(server.url, 'GET', '/api/openapi.json')).json;
  });
  afterAll(async () => {
    agent.destroy();
    await server.stop();
  });

  const send = (
    { method, path, headers, body }: Attack,
    credential: Record<string, string>,
  ): Promise<Answer | 'cut'> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(server.url);
      const all = {
        ...credential,
        // Node's client leaves it out for some methods, and the body would be read as the next request.
        ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
        ...headers,
      };
      const request = httpRequest({ agent, hostname, port, method, path, headers: all }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', () => resolve('cut'));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            type: String(response.headers['content-type'] ?? ''),
            text: Buffer.concat(chunks).toString(),
          }),
        );
      });
      // A body that is refused by its size is answered while it is still being sent.
      request.on('error', (error: NodeJS.ErrnoException) =>
        ['EPIPE', 'ECONNRESET'].includes(error.code ?? '') ? resolve('cut') : reject(error),
      );
      request.end(body);
    });

  it(`finds no request that the description does not cover (seed ${SEED})`, {
    timeout: 900_000,
  }, async () => {
    const grounds = groundsOf(document, LEFT_OUT);
    const check = checker(document);
    const random = randomOf(SEED);
    const statuses = new Map<string, number>();
    const failures: string[] = [];
    let left = 0;
    let cut = 0;

    const worker = async () => {
      while (left-- > 0) {
        const ground = pick(random, grounds);
        const made = attack(random, ground);
        const answer = await send(made, credentialFor(ground.operation));
        if (answer === 'cut') {
          cut++;
          continue;
        }
        const key = `${answer.status}`;
        statuses.set(key, (statuses.get(key) ?? 0) + 1);
        const wrong = check(ground, made, answer);
        if (wrong)
          failures.push(`${wrong}\n  ${shown(made)}\n  → ${answer.status} ${answer.text.slice(0, 300)}`);
      }
    };
    const credentialFor = ({ security }: Described): Record<string, string> => {
      const { token, cookie } = person(world, 'admin', 'all');
      const bearer = security.length === 0 || security.some((way) => 'bearer' in way);
      return bearer ? { authorization: `Bearer ${token}` } : { cookie, origin: server.url };
    };
    for (let done = 0; done < (REQUESTS[name] ?? 0) && failures.length < 20; done += ROUND) {
      // What a round deleted or revoked would leave the next without ground to stand on.
      world = await makeWorld(db, server.keyring);
      settle(grounds, world);
      left = ROUND;
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
    }

    const counts = [...statuses].sort().map(([status, n]) => `${status}: ${n}`);
    process.stdout.write(`fuzz on ${name}, seed ${SEED}: ${counts.join(', ')}, cut: ${cut}\n`);
    expect(failures.join('\n\n')).toBe('');
    expect(server.trouble).toEqual([]);
    // Enough must get past the first check: a fuzzer that is always refused at the door tests the door.
    const good = [...statuses]
      .filter(([status]) => status.startsWith('2'))
      .reduce((sum, [, n]) => sum + n, 0);
    expect(good).toBeGreaterThan((REQUESTS[name] ?? 0) * 0.05);
  });
});

/** Tells the attacks what there is now to be found. The fuzzer's own token and session are not. */
function settle(grounds: Ground[], world: World): void {
  const rowOf: Record<string, Row | undefined> = rows;
  const caller = person(world, 'admin', 'all');
  for (const ground of grounds) {
    const { operationId } = ground.operation;
    const own = /^(tokens|sessions)\./.test(operationId);
    ground.ids = [...Object.values(world.id), ...Object.values(world.site)];
    ground.fit = own ? undefined : rowOf[operationId]?.param?.(world, caller);
  }
}

/** Says what is wrong with an answer, or nothing. Schemas are taken from the document as it was served. */
function checker(document: Document) {
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  formats.default(ajv);
  ajv.addSchema({ $id: 'doc', ...document });
  const known = new Map<string, ValidateFunction>();
  const compiled = (pointer: string): ValidateFunction => {
    const there = known.get(pointer) ?? ajv.compile({ $ref: `doc#${pointer}` });
    known.set(pointer, there);
    return there;
  };
  const pointerPart = (part: string) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

  return (ground: Ground, made: Attack, { status, type, text }: Answer): string | undefined => {
    const { operation, path, method } = ground;
    if (status >= 500) return `${operation.operationId} answered ${status}`;
    if (/node_modules|packages\/server|SELECT .* FROM|PrismaClient|\bat \w+.*:\d+:\d+\)/.test(text))
      return `${operation.operationId} tells of the inside`;
    if (made.method === 'HEAD') return text === '' ? undefined : 'HEAD with a body';
    const error = '/components/schemas/Error';
    const validate = (pointer: string): string | undefined => {
      let body: unknown;
      try {
        body = JSON.parse(text);
      } catch {
        return `${operation.operationId} answered ${status} with something that is not JSON`;
      }
      const fits = compiled(pointer);
      return fits(body) ? undefined : `${operation.operationId} ${status}: ${ajv.errorsText(fits.errors)}`;
    };
    // A bent path or method leads to another operation or to none: then it is the error shape that counts.
    if (status >= 400) {
      const other = made.method !== method;
      const promised = other || operation.responses[String(status)] !== undefined || BEFORE_ANY.has(status);
      return promised
        ? validate(error)
        : `${operation.operationId} answered ${status}, which is not described`;
    }
    if (made.method !== method) return undefined;
    const response = operation.responses[String(status)];
    if (status === 304 && response && text === '') return undefined;
    if (!response?.content) return `${operation.operationId} answered ${status}, which is not described`;
    const media = Object.keys(response.content)[0] ?? '';
    if (!type.startsWith(media) && media !== 'application/octet-stream')
      return `${operation.operationId} answered ${type}, described is ${media}`;
    if (media !== 'application/json') return undefined;
    const at = ['paths', path, method.toLowerCase(), 'responses', String(status), 'content', media, 'schema'];
    return validate(`/${at.map(pointerPart).join('/')}`);
  };
}

const shown = ({ method, path, headers, body }: Attack): string =>
  `${method} ${path.slice(0, 400)} ${JSON.stringify(headers).slice(0, 200)} ${body?.slice(0, 400) ?? ''}`;
