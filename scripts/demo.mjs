// The demonstration: a server on an embedded database, a simulated site of real SNMP agents, one collector enrolled
// through the join-token path, a first scan. The lab and the collector are processes of their own, as in a real site.
import { createSocket } from 'node:dgram';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { lockFolder } from '@rollcall/host/lock';
import { root } from './bootstrap.mjs';
import { atEnd, isEnding, Refusal, startChild, startService } from './children.mjs';
import { playStory } from './demo-story.mjs';

const SITE = 'demo';
const COLLECTOR = 'demo-collector';
/** UDP ports that are tried for the simulated agents. */
const LAB_PORTS = Array.from({ length: 32 }, (_, i) => 16_161 + i);
const ONLINE_MS = 30_000;
const SCAN_MS = 90_000;
/** While `npm run dev` restarts a server that was edited, what answers in its place is no JSON. */
const RESTART_MS = 60_000;
const CHILD = { stdout: 'pipe', env: { LOG_LEVEL: process.env.LOG_LEVEL ?? 'error' } };

const colour = process.stdout.isTTY && !process.env.NO_COLOR;
const bold = (text) => (colour ? `\u001b[1m${text}\u001b[22m` : text);
const dim = (text) => (colour ? `\u001b[2m${text}\u001b[22m` : text);
const say = (text) => process.stdout.write(`${text}\n`);

/**
 * How `npm start` runs the programs: compiled, as long as the demonstration does. `lab`, `collector` (to join) and `site`
 * (to run) are the words of their command lines, `week` of what plays the week before; `serve` starts the server with these settings and the lab's socket, and
 * answers its address and the account it made.
 */
const COMPILED = {
  start: startService,
  lab: ['packages/lab/dist/main.js'],
  collector: ['packages/collector/bin/rollcall-collector.js'],
  site: ['scripts/demo-collector.mjs'],
  week: ['scripts/demo-week.mjs'],
  serve: async (settings, lab) => {
    const { startServer } = await import('@rollcall/server/app');
    const { readConfig } = await import('@rollcall/server/platform/ops/config');
    const server = await startServer(readConfig({ ...process.env, ...settings }), { lab });
    atEnd(() => server.stop());
    return server;
  },
};

/** Everything is up when this returns; what breaks in the demonstration by itself goes on. */
export async function demonstrate(programs = COMPILED) {
  const data = resolve(root, process.env.ROLLCALL_DATA ?? 'data');
  await takeFolder(data);
  const port = readPort();

  const lab = await startLab(programs);
  const settings = { PORT: String(port), ROLLCALL_DATA: data, ...CHILD.env };
  const server = await programs.serve(settings, lab.control);
  const where = process.env.DATABASE_URL
    ? 'database of DATABASE_URL'
    : `embedded database in ${relative(process.cwd(), data) || '.'}`;
  say(`server     ${server.url} ${dim(`(${where})`)}`);

  const facts = await accounts(data, server);
  const api = client(server.url, facts.token);
  await provision(api, lab);
  // A first start that was stopped before its end left what it found without monitoring.
  if (!facts.devices) await monitorFound(api, 'all');
  const { totalCount } = await api('GET', '/api/discovery/scans?pageSize=1');
  const first = totalCount === 0;
  const collector = { state: join(data, 'collector'), url: server.url, lab };
  await joinSite(programs, api, collector);
  const scanned = first && programs.week ? await scanAndPlayWeek(programs, api, collector) : false;
  await startCollector(programs, api, collector);
  const { truth } = lab;
  writeFacts(data, {
    url: server.url,
    user: facts.user,
    password: facts.password,
    token: facts.token,
    site: SITE,
    targets: truth.targets,
    devices: truth.devices.map(({ name, class: kind, addresses }) => ({ name, class: kind, addresses })),
  });
  if (first && !scanned) await firstScan(api, truth.targets);
  farewell(server.url, facts, truth, data);
  const siteId = (await demoSite(api)).id;
  void playStory(api, say, { first, siteId }).catch((error) => {
    if (!isEnding()) say(`story      ${error.message}`);
  });
}

const demoSite = async (api) => (await api('GET', '/api/sites')).data.find(({ name }) => name === SITE);

async function takeFolder(data) {
  try {
    mkdirSync(data, { recursive: true, mode: 0o700 });
    accessSync(data, constants.W_OK);
  } catch (error) {
    throw new Refusal(
      `cannot write to the data folder ${data} (${error.code}): choose another with ROLLCALL_DATA`,
    );
  }
  const lock = await lockFolder(data, 'demo');
  if (!lock.ok)
    throw new Refusal(
      `the data folder ${data} is in use by ${lock.heldBy}: stop it, or choose another with ROLLCALL_DATA`,
    );
  atEnd(() => lock.release());
}

function readPort() {
  const port = Number(process.env.PORT ?? 8080);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Refusal(`PORT=${process.env.PORT} is not a port: give a number from 1 to 65535`);
  return port;
}

const firstLine = async (child) => {
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error('ended without a word');
};

/** A UDP port that nothing on the lab's addresses has; another demonstration may run beside this one. */
async function freePort() {
  for (const port of LAB_PORTS) {
    const socket = createSocket('udp4');
    const free = await new Promise((resolve) => {
      socket.once('error', () => resolve(false));
      socket.bind(port, '127.20.0.1', () => resolve(true));
    });
    socket.close();
    if (free) return port;
  }
  throw new Refusal(`UDP ports ${LAB_PORTS[0]} to ${LAB_PORTS.at(-1)} are taken: end another demonstration`);
}

async function startLab(programs) {
  const port = await freePort();
  // Not in the data folder: the path of a socket has 107 characters at most. Nobody else may open the folder.
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-'));
  atEnd(async () => rmSync(folder, { recursive: true, force: true }));
  const control = join(folder, 'lab');
  const words = ['--port', String(port), '--control', control];
  const child = programs.start('lab', [...programs.lab, ...words], CHILD);
  const truth = JSON.parse(await firstLine(child));
  child.stdout.resume();
  const agents = truth.devices.filter((device) => device.snmp).length;
  say(
    `lab        ${truth.devices.length} devices, ${agents} with SNMP agents, simulated on 127.20.0.0/16 of this machine`,
  );
  return { truth, port, control };
}

/** Admin user and API token: from demo.json of an earlier start, else made now. */
async function accounts(data, server) {
  const file = join(data, 'demo.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  if (!server.firstAdmin)
    throw new Refusal(
      `${data} holds accounts but no demo.json: choose another folder with ROLLCALL_DATA, or remove this one`,
    );
  const { name: user, password } = server.firstAdmin;
  const signIn = await fetch(`${server.url}/api/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: server.url },
    body: JSON.stringify({ name: user, password }),
  });
  if (!signIn.ok) throw new Error(`sign-in failed: ${await signIn.text()}`);
  const made = await fetch(`${server.url}/api/tokens`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Origin: server.url,
      Cookie: signIn.headers
        .getSetCookie()
        .map((cookie) => cookie.split(';')[0])
        .join('; '),
    },
    body: JSON.stringify({ name: 'demonstration' }),
  });
  const { token } = await made.json();
  // Written at once: a start that is stopped from here on must not lose the password.
  writeFacts(data, { url: server.url, user, password, token });
  return { user, password, token };
}

const client = (url, token) => async (method, path, body) => {
  const deadline = Date.now() + RESTART_MS;
  for (;;) {
    const response = await fetch(url + path, {
      method,
      headers: { Authorization: `Bearer ${token}`, ...(body ? { 'Content-Type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    }).catch((error) => error);
    if (isJson(response)) {
      const answer = await response.json();
      if (!answer.success) throw new Error(`${method} ${path}: ${answer.error?.message ?? response.status}`);
      return answer;
    }
    if (isEnding() || Date.now() > deadline)
      throw new Error(`${method} ${path}: ${response.message ?? `status ${response.status}`}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
};

const isJson = (response) => response.headers?.get('content-type')?.includes('json') ?? false;

/** Site, credentials and profile of the demonstration, where they are missing. */
async function provision(api, { truth, port }) {
  const site = await demoSite(api);
  const settings = { snmpPort: port };
  if (!site) {
    await api('POST', '/api/sites', {
      name: SITE,
      allowLoopback: true,
      networks: ['127.0.0.0/8'],
      settings: {
        ...settings,
        monitorFound: 'all',
        watchSnmpSeconds: 15,
        holdSeconds: { 'interface.utilisation': 60, 'interface.errors': 60 },
      },
    });
  } else if (site.settings.snmpPort !== port) {
    await api('PATCH', `/api/sites/${site.id}`, { settings: { ...site.settings, ...settings } });
  }
  const { data: known } = await api('GET', '/api/credentials');
  for (const credential of truth.credentials)
    if (!known.some(({ name }) => name === credential.name))
      await api('POST', '/api/credentials', { ...credential, allSites: true });
}

/** Whether what is found at the site of the demonstration is monitored from now on; where it is, all that is known, too. */
async function monitorFound(api, value) {
  const { id, settings } = await demoSite(api);
  await api('PATCH', `/api/sites/${id}`, { settings: { ...settings, monitorFound: value } });
  if (value === 'all') await api('POST', '/api/devices/bulk', { filter: {}, set: { monitor: 1 } });
}

async function joinSite(programs, api, { state, url }) {
  const identity = join(state, 'identity.json');
  if (existsSync(identity)) {
    // The server listens elsewhere than the last time: another PORT.
    const joined = JSON.parse(readFileSync(identity, 'utf8'));
    if (joined.server !== url) writeFileSync(identity, JSON.stringify({ ...joined, server: url }, null, 2));
    return;
  }
  const { data: collectors } = await api('GET', '/api/collectors');
  const { token } = await api('POST', '/api/collectors/join-tokens', { siteId: (await demoSite(api)).id });
  const name = collectors.some((c) => c.name === COLLECTOR)
    ? `${COLLECTOR}-${Date.now().toString(36)}`
    : COLLECTOR;
  const joining = startChild([...programs.collector, 'join', url, token, '--state', state, '--name', name], {
    stdout: 'ignore',
  });
  const code = await joining.exited;
  if (code !== 0) throw new Refusal(`the collector could not join (exit code ${code})`);
}

/** `start` of programs for one that lasts, else as a child that is stopped again. */
async function startCollector(
  programs,
  api,
  { state, lab },
  start = (...args) => programs.start('collector', ...args),
) {
  const started = start([...programs.site, '--state', state], {
    ...CHILD,
    env: { ...CHILD.env, LAB_CONTROL: lab.control },
  });
  (started.child ?? started).stdout.resume();
  const deadline = Date.now() + ONLINE_MS;
  while (Date.now() < deadline) {
    const { data } = await api('GET', '/api/collectors');
    const online = data.find((collector) => collector.online);
    if (online) {
      say(`collector  ${online.name} is online`);
      return started;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Refusal(
    `the collector did not come online within ${ONLINE_MS / 1000} s; LOG_LEVEL=info shows why`,
  );
}

/**
 * The first scan, and the week before it as the backlog of a collector that was cut off: it is in the outbox before
 * anything is monitored, because a report that is older than the last one counts for nothing.
 */
async function scanAndPlayWeek(programs, api, { state, lab, ...collector }) {
  await monitorFound(api, 'none');
  const scanning = await startCollector(programs, api, { state, lab, ...collector }, startChild);
  await firstScan(api, lab.truth.targets);
  const { data: devices } = await api('GET', '/api/devices?pageSize=1000');
  const idOf = new Map(devices.flatMap((one) => one.addresses.map((address) => [address, one.id])));
  const ids = lab.truth.devices.map(({ name, addresses }) => [
    name,
    addresses.map((a) => idOf.get(a)).find(Boolean),
  ]);
  const player = startChild([...programs.week, '--state', state], {
    stdout: 'pipe',
    env: { ...CHILD.env, WEEK_DEVICES: JSON.stringify(Object.fromEntries(ids.filter(([, found]) => found))) },
  });
  if ((await firstLine(player.child)) !== 'ready') throw new Error('the week before could not be played');
  player.child.stdout.resume();
  await scanning.stop();
  const code = await player.exited;
  if (code !== 0) throw new Error(`the week before could not be played (exit code ${code})`);
  await monitorFound(api, 'all');
  say('history    a week of the lab is on its way, as the backlog of the collector');
  return true;
}

async function firstScan(api, targets) {
  const { scanId } = await api('POST', '/api/discovery/scan', { targets, profile: 'deep', site: SITE });
  const deadline = Date.now() + SCAN_MS;
  let last = '';
  for (;;) {
    const { data: scan } = await api('GET', `/api/discovery/scans/${scanId}`);
    const done = !['queued', 'running'].includes(scan.status);
    const line = `scan       ${scan.status.padEnd(9)} ${scan.addressesProbed}/${scan.addressesTotal} addresses, ${scan.hostsAlive} alive, ${scan.devicesFound} devices`;
    if (line !== last) process.stdout.write(process.stdout.isTTY ? `\r\u001b[K${line}` : `${line}\n`);
    last = line;
    if (done) {
      if (process.stdout.isTTY) process.stdout.write('\n');
      if (scan.status !== 'completed')
        say(`scan       ended ${scan.status}: ${scan.errors?.join('; ') ?? ''}`);
      return;
    }
    if (Date.now() > deadline) throw new Refusal(`the first scan did not end within ${SCAN_MS / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function writeFacts(data, facts) {
  const file = join(data, 'demo.json');
  writeFileSync(`${file}.new`, `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function farewell(url, { user, password, token }, truth, data) {
  const curl = (rest) => `  curl -s -H 'Authorization: Bearer ${token}' ${rest}`;
  const page = (path, what) => `  ${bold((url + path).padEnd(url.length + 12))}  ${what}`;
  say(`
${bold('Rollcall is ready')}

  open       ${bold(url)}
  sign in    ${user} / ${password}
  API token  ${token}
  ${dim(`the same in ${join(relative(process.cwd(), data) || '.', 'demo.json')}`)}

${bold('Look at first')}  ${dim('a switch loses its power now; its case is there within a minute')}

${page('/cases', 'the case: its root cause, what is behind it, what changed before')}
${page('/topology', 'the map, with what is down')}
${page('/lab', 'break something yourself, and see what Rollcall says')}
${page('/devices', `${truth.devices.length} devices, found by one scan`)}

${bold('By API')}

${curl(`'${url}/api/devices?pageSize=5'`)}
${curl(`'${url}/api/events?Severity=5'`)}
${curl(`-X POST -H 'Content-Type: application/json' -d '{"targets":"127.20.10.0/24","profile":"deep","site":"${SITE}"}' ${url}/api/discovery/scan`)}

${dim('Ctrl-C ends everything; the next start keeps it.')}
`);
}
