/**
 * A page of another site in the browser of somebody who is signed in. The browser adds the session to whatever the page asks, as
 * old ones do; the page cannot set what tells where it comes from. It must change nothing, read nothing, frame nothing.
 */
import { COLLECTOR_PATH } from '@rollcall/shared/protocol';
import { attack, type Document, groundsOf, pick, type Random } from '../../api/hostile.ts';
import { type Attacker, judge, pause, type Scene, type Sent, send, VICTIM } from '../scene.ts';

/** What a form, and a page without being asked first, can send (Fetch, "CORS-safelisted request-header"). */
const FORM_TYPES = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'];
/** And what a page tries all the same. */
const TYPES = [...FORM_TYPES, 'application/json'];
/** A page, a frame in a sandbox, a page that looks like ours, another port of the same host. */
const ORIGINS = (url: string) => [
  'https://evil.example',
  'null',
  `${url}.evil.example`,
  url.replace(/:\d+$/, ':1'),
  url.replace('http', 'httpx'),
];
const SITES = ['cross-site', 'same-site', 'none', ''];
/** Pages that a frame may be filled with. */
const PAGES = ['/', '/devices', '/profile', '/api/docs', '/no/such/page'];
/** It has no end. */
const LEFT_OUT = new Set(['stream.open']);

export const attackInBrowser: Attacker = async (scene, { random, tally, until }) => {
  const described = await send(scene.url, { method: 'GET', path: '/api/openapi.json' });
  if (described === 'cut') throw new Error('the server does not answer');
  const grounds = groundsOf(JSON.parse(described.text) as Document, LEFT_OUT);
  const cookie = await signedIn(scene);
  for (const ground of grounds) ground.ids = [scene.siteId];
  while (!until.aborted) {
    const made = random() < 0.8 ? attack(random, pick(random, grounds)) : special(random);
    const from = whence(random, scene.url);
    // A page sets no Host: it is the address that the page asks (Fetch, "forbidden request-header").
    const { host: _, ...headers } = made.headers ?? {};
    const request = {
      ...made,
      headers: {
        ...headers,
        'content-type': pick(random, isProgram(made, from) ? FORM_TYPES : TYPES),
        ...from,
        cookie: tossed(random, cookie),
      },
    };
    // What asks who may ask is answered, and does nothing.
    if (request.method === 'OPTIONS' && from.origin) Object.assign(request.headers, asking(random));
    const heard = await send(scene.url, request);
    const what = `${request.method} ${request.path.slice(0, 200)} from ${from.origin ?? 'a link'}`;
    judge(tally, what, heard);
    if (heard === 'cut') continue;
    const { status, headers: answered } = heard;
    const changes = !['GET', 'HEAD', 'OPTIONS'].includes(request.method);
    if (status === 101) tally.fault(`${what}: the collectors' door was opened`);
    if (changes && status < 400) tally.fault(`${what} was answered ${status}: it changed something`);
    if (answered['access-control-allow-origin'] !== undefined)
      tally.fault(`${what}: a page of another site may read the answer`);
    if (
      /html/.test(String(answered['content-type'])) &&
      !/frame-ancestors 'none'/.test(String(answered['content-security-policy']))
    )
      tally.fault(`${what}: a page of another site may frame it`);
    await pause(2, until);
  }
  // All of that ended nobody's session.
  const after = await send(scene.url, { method: 'GET', path: '/api/session', headers: { cookie } });
  if (after === 'cut' || after.status !== 200)
    tally.fault(`the victim is signed out: ${JSON.stringify(after)}`);
};

/** JSON that says nothing of where it comes from is sent by a program, and that may sign in; a form cannot send it. */
const isProgram = ({ method, path }: Sent, from: object): boolean =>
  method === 'POST' && path === '/api/session' && Object.keys(from).length === 0;

async function signedIn({ url }: Scene): Promise<string> {
  const headers = { 'content-type': 'application/json', origin: url };
  const heard = await send(url, {
    method: 'POST',
    path: '/api/session',
    headers,
    body: JSON.stringify(VICTIM),
  });
  if (heard === 'cut' || heard.status !== 200)
    throw new Error(`the victim is not let in: ${JSON.stringify(heard)}`);
  return String(heard.headers['set-cookie']?.[0]).split(';')[0] ?? '';
}

/** What a browser says of where a request comes from: each says less than the next. */
function whence(random: Random, url: string): { origin?: string; 'sec-fetch-site'?: string } {
  const site = pick(random, SITES);
  // A link that somebody follows, or a form of an old browser, says nothing.
  const isSilent = random() < 0.1;
  return {
    ...(!isSilent && { origin: pick(random, ORIGINS(url)) }),
    ...(site && { 'sec-fetch-site': site }),
  };
}

/** Cookies that a neighbouring host set for all of its domain, before or after ours. */
const tossed = (random: Random, cookie: string): string =>
  random() < 0.7
    ? cookie
    : pick(random, [
        `rollcall=x; ${cookie}`,
        `${cookie}; rollcall=`,
        `__proto__=1; ${cookie}`,
        `${'a=b; '.repeat(50)}${cookie}`,
      ]);

const asking = (random: Random): Record<string, string> => ({
  'access-control-request-method': pick(random, ['POST', 'PATCH', 'DELETE', 'PUT']),
  'access-control-request-headers': 'content-type, authorization',
});

/** Frames, sign-out, the live stream and the collectors' door. */
const special = (random: Random): Sent =>
  pick<() => Sent>(random, [
    () => ({ method: 'GET', path: pick(random, PAGES) }),
    () => ({ method: 'DELETE', path: '/api/session' }),
    () => ({
      method: 'POST',
      path: '/api/session',
      body: JSON.stringify(VICTIM),
    }),
    () => ({ method: 'HEAD', path: '/api/stream' }),
    () => ({
      method: 'GET',
      path: COLLECTOR_PATH,
      headers: {
        ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
        'sec-websocket-key': Buffer.alloc(16, 1).toString('base64'),
      },
    }),
  ])();
