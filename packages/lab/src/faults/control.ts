/**
 * The lab's control: HTTP on a Unix socket, so that only who may open the file can break anything.
 *
 *   GET    /             what can be broken, and what is
 *   POST   /faults       { kind, target } → the fault
 *   DELETE /faults/{id}
 */
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { faultRequest } from '@rollcall/shared/api/lab';
import { FaultRefused, type Faults } from './faults.ts';

/** Longest body of a request, characters. */
const MOST_BODY = 4096;

export async function serveControl(path: string, faults: Faults): Promise<{ close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    answer(request, faults).then(
      ([status, body]) => send(response, status, body),
      (error: unknown) =>
        error instanceof FaultRefused
          ? send(response, 409, { message: error.message })
          : send(response, 500, { message: String(error) }),
    );
  });
  // A lab that was killed leaves it behind.
  await rm(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new Error(`cannot be controlled at ${path}: ${cause.message}`, { cause })),
    );
    server.listen(path, resolve);
  });
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, faults: Faults): Promise<[status: number, body: unknown]> {
  const { method, url = '' } = request;
  if (method === 'GET' && url === '/') return [200, faults.state];
  if (method === 'POST' && url === '/faults') {
    const wanted = faultRequest.safeParse(await bodyOf(request));
    if (!wanted.success) return [400, { message: wanted.error.message }];
    return [201, await faults.break(wanted.data)];
  }
  const id = /^\/faults\/([\w-]+)$/.exec(url)?.[1];
  if (method === 'DELETE' && id !== undefined)
    return (await faults.repair(id)) ? [200, null] : [404, { message: 'no such fault' }];
  return [404, { message: 'no such path' }];
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk;
    if (text.length > MOST_BODY) return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
