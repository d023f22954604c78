/** Two servers of an earlier version are replaced one after the other, and back again, under load, behind the balancer of the example. */
import { parseArgs } from 'node:util';
import { systemClock } from '@rollcall/shared/clock';
import { sound } from './check.ts';
import { eventually, tail } from './child.ts';
import { programOf, ROOT, type Server } from './server.ts';
import { World } from './world.ts';

const ASK_MS = 100;
/** The balancer leaves out a server that took no connection for up to 6 s (`fail_timeout=5s`, whole seconds): docs/upgrade.md. */
const BESIDE_MS = 10_000;
const LINKED_MS = 60_000;
const STILL_MS = 60_000;

/** Observations a second, of all collectors together. */
const RATE = 200;

const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    back: { type: 'boolean' },
    sources: { type: 'string', default: '3' },
  },
});
const { before, back } = values;
const sources = Number(values.sources);
const say = (line: string) => void process.stdout.write(`${line}\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));
if (before === undefined) {
  say('rolling: --before FOLDER: a checkout of an earlier version, after "npx tsc -b packages/server" there');
  say('         --back: and back to it, where the migrations since only add');
  process.exit(2);
}

const faults: string[] = [];
const world = await World.create({
  database: 'postgresql',
  servers: 2,
  sources,
  rate: Math.ceil(RATE / sources),
  checkout: before,
});
const people = asking(world);
try {
  await linked('at the start');
  for (const [version, folder] of [
    ['this', ROOT] as const,
    ...(back ? [['the earlier', before] as const] : []),
  ])
    for (const [i, server] of world.servers.entries()) {
      await replace(server, programOf(folder), `server ${i + 1}`, version);
      await systemClock.sleep(BESIDE_MS);
    }
  await people.stop();
  for (const source of world.sources) source.setRate(0);
  if ((await world.drained(STILL_MS)).length > 0) faults.push('not everything was delivered');
  const verdict = await world.verdict();
  if (!sound(verdict)) faults.push(JSON.stringify(verdict));
  say(
    `observed ${verdict.observed}, lost ${verdict.lost}, doubled ${verdict.doubled}; requests by status ${JSON.stringify(people.answers)}`,
  );
  for (const status of Object.keys(people.answers))
    if (status !== '200') faults.push(`requests were answered ${status}`);
} finally {
  await world.destroy(faults.length > 0);
}
for (const fault of faults) say(`  ! ${fault}`);
say(faults.length === 0 ? 'rolling: green' : `rolling: RED, logs: ${world.folder}`);
process.exit(faults.length === 0 ? 0 : 1);

async function replace(server: Server, program: string, name: string, version: string): Promise<void> {
  await server.stop();
  server.program = program;
  const took = await server.startReady();
  say(`${name} is of ${version} version, ready after ${Math.round(took)} ms`);
  await linked(`after ${name}`);
}

async function linked(when: string): Promise<void> {
  if (await eventually(() => world.sources.every((source) => source.linked), LINKED_MS)) return;
  faults.push(`${when} not every collector is linked: ${tail(world.sources[0]?.logFile ?? '')}`);
}

/** People who ask through the balancer all the time. */
function asking({ port, server }: World) {
  const answers: Record<string, number> = {};
  let over = false;
  const work = (async () => {
    const headers = { Authorization: `Bearer ${server.token}` };
    while (!over) {
      const status = await fetch(`http://127.0.0.1:${port}/api/devices`, { headers }).then(
        async (response) => {
          await response.arrayBuffer();
          return response.status;
        },
        () => 0,
      );
      answers[status] = (answers[status] ?? 0) + 1;
      await systemClock.sleep(ASK_MS);
    }
  })();
  const stop = async () => {
    over = true;
    await work;
  };
  return { answers, stop };
}
