// web.mjs [--devices 100000] [--interfaces 10000] [--rounds 9] [--database URL] [--keep] [--load] [--check] [--json]
//
// The web application in Chromium against the server's own program on PostgreSQL: what a first visit loads and when it
// shows, beside an empty page of a bare server in the same browser; how long the list of all devices takes to answer a
// key, a click and a letter (input to next frame, as the browser measures it) and to show the new rows; how the
// interfaces of one large device scroll. --check ends with status 1 when a bound of the project is missed.
// The data is removed at the end unless --keep; what was kept is used again. --load only loads it, and keeps it.
import '../scripts/usage.mjs';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { compactTallies } from '@rollcall/server/platform/db/tally';
import { fillFleet, fleetId } from '@rollcall/server/testing/fleet';
import { chromium } from 'playwright-core';
import { freshDatabase, percentile, pg, postgresOf, startProgram } from './installation.mjs';

const { values: options } = parseArgs({
  options: {
    devices: { type: 'string', default: '100000' },
    interfaces: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '9' },
    database: { type: 'string' },
    keep: { type: 'boolean', default: false },
    load: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const [devices, interfaces, rounds] = ['devices', 'interfaces', 'rounds'].map((name) =>
  Number(options[name]),
);
const BOUNDS = { scriptKb: 250, paintMs: 1_000, interactionMs: 100 };
const SITE = fileURLToPath(new URL('../packages/web/dist/site/', import.meta.url));
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking'];
for (const [path, advice] of [
  [`${SITE}index.html`, 'npm run build'],
  [CHROMIUM, 'apt-get install chromium, or set CHROMIUM'],
])
  if (!existsSync(path)) {
    console.error(`web.mjs: ${path} is not there: ${advice}`);
    process.exit(2);
  }

// ── What is looked at ──

const database = await freshDatabase(postgresOf(options.database), 'rollcall_bench_web', {
  keep: options.keep || options.load,
});
if (!database.kept) await load();
if (options.load) {
  await database.drop();
  process.exit();
}

async function load() {
  const client = new pg.Client({ connectionString: database.url, options: '-c TimeZone=UTC' });
  await client.connect();
  const sql = { query: async (text, params) => (await client.query(text, params)).rows };
  console.error(`loading ${devices} devices`);
  await fillFleet(sql, { devices, interfaces: 1, events: devices, cases: 1_000 });
  await sql.query(
    `INSERT INTO interfaces (site_id, id, device_id, if_index, name, type, speed_bps, mtu, admin_status, oper_status, first_seen, last_seen)
   SELECT site_id, gen_random_uuid(), device_id, n, 'Gi1/0/' || n, type, speed_bps, mtu, 1, 1 + n % 2, first_seen, last_seen
   FROM interfaces, generate_series(2, ${interfaces}) AS n WHERE device_id = '${fleetId('device', 0)}'`,
  );
  await sql.query(`UPDATE devices SET interface_count = ${interfaces} WHERE id = '${fleetId('device', 0)}'`);
  await compactTallies(database.db);
  await sql.query('VACUUM (ANALYZE)');
  await client.end();
}
// They are made anew by each run.
if (database.kept) await database.db.query(`DELETE FROM users WHERE name IN ('bench', 'looker')`);
const program = await startProgram(database.url);
const account = { name: 'looker', password: 'a pass phrase of a benchmark' };
await fetch(`${program.url}/api/users`, {
  method: 'POST',
  headers: { Authorization: `Bearer ${program.token}`, 'Content-Type': 'application/json' },
  body: JSON.stringify({ ...account, role: 'admin', allSites: true }),
});
const bare = createServer((_request, response) => {
  response.setHeader('Content-Type', 'text/html');
  response.end('<!doctype html><title>bare</title><p>nothing but this');
}).listen(0, '127.0.0.1');
await once(bare, 'listening');
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
const results = [];
const note = (what, value, unit, bound) => {
  results.push({ what, value, unit, bound });
  if (options.json) return;
  const number = value.toFixed(unit === '×' ? 1 : unit === '' ? 0 : 1).padStart(9);
  const kept = bound === undefined ? '' : ` ${value <= bound ? 'within' : 'MISSES'} ${bound}`;
  console.log(`${what.padEnd(62)} ${number} ${unit.padEnd(3)}${kept}`);
};

// ── First visit ──

const page = readFileSync(`${SITE}index.html`, 'utf8');
const eager = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)].map(([, path]) => path);
const packed = eager.reduce((sum, path) => sum + gzipSync(readFileSync(SITE + path)).length, 0);
note('scripts of the first load, gzipped', packed / 1024, 'KB', BOUNDS.scriptKb);

const newPage = async () => (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
/** Milliseconds until something is painted, and until the frame with `element` was done; bytes of all answers. */
async function firstPaint(url, element) {
  const visitor = await newPage();
  let bytes = 0;
  visitor.on('requestfinished', async (request) => {
    bytes += (await request.sizes()).responseBodySize;
  });
  await visitor.addInitScript((element) => {
    const look = () => {
      if (!document.querySelector(element)) return requestAnimationFrame(look);
      requestAnimationFrame(() => {
        globalThis.whole = performance.now();
      });
    };
    look();
  }, element);
  await visitor.goto(url, { waitUntil: 'networkidle' });
  const times = await visitor.waitForFunction(() => {
    const paint = performance.getEntriesByName('first-contentful-paint')[0]?.startTime;
    return paint && globalThis.whole && { paint, whole: globalThis.whole };
  });
  const { paint, whole } = await times.jsonValue();
  await visitor.context().close();
  return { paint, whole, bytes };
}
const median = (numbers) => percentile(numbers, 50);
const paints = { ours: [], whole: [], bare: [], bytes: [] };
for (let round = 0; round < rounds; round++) {
  const ours = await firstPaint(program.url, 'form');
  paints.ours.push(ours.paint);
  paints.whole.push(ours.whole);
  paints.bytes.push(ours.bytes);
  paints.bare.push((await firstPaint(`http://127.0.0.1:${bare.address().port}/`, 'p')).paint);
}
note('sent on the first visit, everything', median(paints.bytes) / 1024, 'KB');
note('first contentful paint', median(paints.ours), 'ms', BOUNDS.paintMs);
note('the sign-in is drawn whole', median(paints.whole), 'ms');
note('first paint of an empty page', median(paints.bare), 'ms');
note('ratio', median(paints.ours) / median(paints.bare), '×');

// ── The list of all devices ──

const visitor = await newPage();
await visitor.addInitScript(() => {
  globalThis.inputs = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (entry.interactionId) globalThis.inputs.push(entry.duration);
  }).observe({ type: 'event', durationThreshold: 16, buffered: true });
});
await visitor.goto(program.url);
await visitor.getByLabel('Name').fill(account.name);
await visitor.getByRole('textbox', { name: 'Password' }).fill(account.password);
await visitor.keyboard.press('Enter');
await visitor.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
/** Looked at once a frame: asked from here again and again, the page would be busy with the asking. */
const settled = () =>
  visitor.waitForFunction(
    () => !document.querySelector('[aria-busy="true"]') && document.querySelector('[role="row"] a'),
  );
await visitor.goto(`${program.url}/devices`);
await settled();
await visitor.waitForTimeout(1_000);
await visitor.evaluate(() => {
  globalThis.inputs = [];
});
const inputs = [];
let given = 0;
/** What the browser measured of inputs since this was asked last, under a name; it reports only what took longer than a frame. */
const gather = async (what, count) => {
  await visitor.waitForTimeout(500);
  const durations = await visitor.evaluate(() => globalThis.inputs.splice(0));
  inputs.push(...durations);
  given += count;
  note(`  ${what}, slowest of ${count}`, Math.max(16, ...durations), 'ms');
};
const rowsMs = [];
/** Does something, and measures until the rows of the new list are there. */
const timed = async (act) => {
  const begun = performance.now();
  await act();
  await visitor.waitForTimeout(0);
  await settled();
  rowsMs.push(performance.now() - begun);
  await visitor.waitForTimeout(150);
};
const press = async (key, times = 1) => {
  for (let i = 0; i < times; i++) {
    await visitor.keyboard.press(key);
    await visitor.waitForTimeout(30);
  }
};
await press('j', 30);
await gather('to the next row', 30);
await press('PageDown', 10);
await gather('to the next page of rows', 10);
await press('End');
await press('Home');
await gather('to the end and the beginning', 2);
for (const column of ['Status', 'Address', 'Vendor', 'Last seen', 'Name'])
  await timed(() => visitor.getByRole('columnheader', { name: column }).getByRole('button').click());
await gather('another order', 5);
// Not by class: a server that starts classifies anew, and these devices say nothing of themselves.
for (const choice of ['watched', 'not watched']) {
  await visitor.getByRole('search').getByRole('button', { name: 'Watched' }).click();
  await timed(() => visitor.getByRole('option', { name: choice, exact: true }).click());
  await visitor.keyboard.press('Escape');
}
await gather('a choice opened, chosen and closed', 6);
await press('/');
await timed(() => visitor.keyboard.type('site-007', { delay: 60 }));
await gather('a letter', 9);
note(`inputs that took longer than one frame, of ${given}`, inputs.length, '');
note(
  `interaction with ${devices} devices, the slowest of ${given}`,
  Math.max(16, ...inputs),
  'ms',
  BOUNDS.interactionMs,
);
note('rows of another order or filter shown, median', median(rowsMs), 'ms');
note('the same, slowest', Math.max(...rowsMs), 'ms');

// ── The interfaces of one device ──

await visitor.goto(`${program.url}/devices/${fleetId('device', 0)}?tab=interfaces`);
await visitor.getByRole('row').filter({ hasText: 'Gi1/0/' }).first().waitFor();
const scroll = await visitor.evaluate(async () => {
  const grid = document.querySelector('[role="grid"]');
  const seen = new Set();
  const gaps = [];
  let long = 0;
  let frames = 0;
  let last = performance.now();
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  /** Whether rows cover all of what is in view. */
  const covered = () => {
    const box = grid.getBoundingClientRect();
    const rows = [...grid.querySelectorAll('[aria-rowindex]')].map((row) => row.getBoundingClientRect());
    const bottom = Math.min(box.bottom, box.top + grid.scrollHeight - grid.scrollTop) - 2;
    let at = box.top + 40;
    for (const row of rows.sort((a, b) => a.top - b.top))
      if (row.top <= at + 1) at = Math.max(at, row.bottom);
    return at >= bottom;
  };
  const whole = () => {
    for (const row of grid.querySelectorAll('[aria-rowindex]'))
      if (row.textContent.includes('Gi1/0/')) seen.add(row.getAttribute('aria-rowindex'));
  };
  while (grid.scrollTop < grid.scrollHeight - grid.clientHeight - 1) {
    grid.scrollTop += 160;
    await frame();
    const now = performance.now();
    if (now - last > 50) long++;
    last = now;
    frames++;
    if (!covered()) gaps.push(grid.scrollTop);
    whole();
  }
  // What was on its way while it was passed: looked at once more, at rest.
  const missing = () => Number(grid.getAttribute('aria-rowcount')) - 1 - seen.size;
  const passed = missing();
  for (let top = 0; missing() > 0 && top < grid.scrollHeight; top += grid.clientHeight - 80) {
    grid.scrollTop = top;
    for (let wait = 0; wait < 40; wait++) {
      await frame();
      whole();
    }
  }
  return { gaps: gaps.length, frames, long, passed, missing: missing() };
});
note(`frames of the scroll over ${interfaces} interfaces`, scroll.frames, '');
note('frames in which a row in view was not drawn', scroll.gaps, '', 0);
note('frames longer than 50 ms', scroll.long, '');
note('rows passed before their words were there', scroll.passed, '');
note('rows never shown', scroll.missing, '', 0);

await browser.close();
bare.close();
await program.stop();
await database.drop();

if (options.json) console.log(JSON.stringify(results, null, 2));
if (options.check && results.some(({ value, bound }) => bound !== undefined && !(value <= bound)))
  process.exit(1);
