/** Clients that signed in nowhere. */
import { connect, type Socket } from 'node:net';
import { COLLECTOR_PATH } from '@rollcall/shared/protocol';
import { attack, type Document, groundsOf, pick, type Random, TEXTS } from '../../api/hostile.ts';
import { type Attacker, HONEST, judge, pause, type Scene, type Sent, send } from '../scene.ts';

const OPEN_MOST = 300;
const NOTHING = new Set<string>(['stream.open']);

export const attackAnonymously: Attacker = async (scene, { random, tally, until }) => {
  const described = await send(scene.url, { method: 'GET', path: '/api/openapi.json' });
  if (described === 'cut') throw new Error('the server does not answer');
  const grounds = groundsOf(JSON.parse(described.text) as Document, NOTHING);
  for (const ground of grounds) ground.ids = scene.foreign;
  const open: Socket[] = [];
  try {
    while (!until.aborted) {
      const from = `127.0.${1 + Math.floor(random() * 4)}.${1 + Math.floor(random() * 250)}`;
      if (random() < 0.3) {
        hold(open, rawSocket(scene, random, from));
        tally.sent += 1;
        await pause(2, until);
        continue;
      }
      const request = random() < 0.5 ? forged(random, scene.url) : attack(random, pick(random, grounds));
      const heard = await send(scene.url, request, { from });
      judge(tally, `${request.method} ${request.path.slice(0, 200)}`, heard);
      const inside = request.path.startsWith('/api/') && !isPublic(request.path);
      if (heard !== 'cut' && inside && heard.status < 300 && request.method !== 'OPTIONS')
        tally.fault(`${request.method} ${request.path.slice(0, 200)} was answered ${heard.status} to nobody`);
    }
  } finally {
    for (const socket of open) socket.destroy();
  }
};

/** Answered to everybody, by the published description. */
const isPublic = (path: string): boolean =>
  /^\/api\/(openapi\.json|docs|health|session|collectors\/(install\.sh|packages|join|link))/.test(path);

/** The oldest makes room. */
function hold(open: Socket[], socket: Socket): void {
  socket.on('error', () => undefined);
  socket.resume();
  open.push(socket);
  if (open.length > OPEN_MOST) open.shift()?.destroy();
}

/** Requests of a foreign page, forged sessions and tokens, paths out of the web folder, guesses. */
function forged(random: Random, url: string): Sent {
  const text = pick(random, TEXTS).replace(/[^\x20-\x7e]/g, '?');
  const body = JSON.stringify({ name: HONEST.name, password: `guess ${random()}` });
  const json = { 'content-type': 'application/json' };
  return pick<() => Sent>(random, [
    () => ({ method: 'POST', path: '/api/session', headers: { ...json, origin: url }, body }),
    () => ({
      method: 'POST',
      path: '/api/session',
      headers: { ...json, origin: 'https://evil.example' },
      body,
    }),
    () => ({
      method: 'POST',
      path: '/api/users',
      headers: { ...json, 'sec-fetch-site': 'cross-site', cookie: `rollcall=${encodeURIComponent(text)}` },
      body,
    }),
    () => ({ method: 'GET', path: '/api/devices', headers: { authorization: `Bearer ${text}` } }),
    () => ({ method: 'GET', path: '/api/devices', headers: { 'x-forwarded-for': text, host: text } }),
    () => ({ method: 'GET', path: `/${encodeURIComponent(text)}/../../../etc/passwd` }),
    () => ({ method: 'GET', path: `/assets/..%2f..%2f${encodeURIComponent(text)}` }),
    () => ({ method: 'GET', path: '/api/collectors/install.sh', headers: { host: text } }),
    () => ({
      method: 'POST',
      path: '/api/collectors/join',
      headers: json,
      body: JSON.stringify({ token: text }),
    }),
    () => ({ method: 'OPTIONS', path: '/api/devices', headers: { origin: text } }),
  ])();
}

/** Connections that begin and do not go on, smuggle, or ask for the collectors' door. */
function rawSocket({ url }: Scene, random: Random, from: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: from });
  const head = (line: string, ...more: string[]) => [line, 'Host: localhost', ...more, '', ''].join('\r\n');
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
  const key = `Sec-WebSocket-Key: ${Buffer.alloc(16, 1).toString('base64')}`;
  socket.write(
    pick(random, [
      '',
      'GET /api/devices HTTP/1.1\r\nHost: a',
      head('GET /api/health/live HTTP/1.1'),
      `${head('POST /api/session HTTP/1.1', 'Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
      head('POST /api/session HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 100000'),
      head('GET / HTTP/1.1', ...Array.from({ length: 200 }, (_, i) => `X-${i}: y`)),
      head('GET / HTTP/1.1', `X: ${'y'.repeat(20_000)}`),
      head(`GET ${COLLECTOR_PATH} HTTP/1.1`, ...upgrade, key),
      head(`GET ${COLLECTOR_PATH} HTTP/1.1`, ...upgrade, key, 'Origin: https://evil.example'),
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    ]),
  );
  return socket;
}
