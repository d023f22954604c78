/**
 * Everything that is done to a running system. A fault does its harm, holds it for a while and mends what a person or
 * systemd would mend (starts what is dead, plugs in the cable), nothing else.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { systemClock } from '@rollcall/shared/clock';
import type { SourceProcess } from './collector.ts';
import type { Weather } from './proxy.ts';
import type { Random } from './random.ts';
import type { DatabaseKind, World } from './world.ts';

export interface Scene {
  world: World;
  /** Whom it hits; server and database faults hit everybody. */
  source: SourceProcess;
  random: Random;
}

export interface Fault {
  name: string;
  scope: 'source' | 'server';
  /** Only on this database. */
  only?: DatabaseKind;
  /** Only a source that is so. */
  suits?(source: SourceProcess): boolean;
  inject(scene: Scene): Promise<void>;
}

const wait = (ms: number) => systemClock.sleep(ms);
const DAY_MS = 86_400_000;

// ── The link ────────────────────────────────────────────────────────────────────────────────────────────────

const link = (name: string, inject: (scene: Scene) => Promise<void> | void): Fault => ({
  name: `link.${name}`,
  scope: 'source',
  inject: async (scene) => {
    try {
      await inject(scene);
    } finally {
      await scene.source.proxy.calm();
    }
  },
});

/** Weather for a while. */
const weather = (name: string, make: (random: Random) => Partial<Weather>, most = 4000): Fault =>
  link(name, async ({ source, random }) => {
    await source.proxy.change(make(random));
    await wait(random.whole(most / 8, most));
  });

const LINK_FAULTS: Fault[] = [
  link('fin', ({ source }) => source.proxy.strike('fin')),
  link('reset', ({ source }) => source.proxy.strike('reset')),
  link('lost-both', ({ source }) => source.proxy.lose(['up', 'down'])),
  link('lost-up', ({ source }) => source.proxy.lose(['up'])),
  link('lost-down', ({ source }) => source.proxy.lose(['down'])),
  weather('stall-both', () => ({ stalled: ['up', 'down'] })),
  weather('stall-up', () => ({ stalled: ['up'] })),
  weather('stall-down', () => ({ stalled: ['down'] })),
  weather('slices', (random) => ({ slices: { bytes: random.whole(1, 7), gapMs: 1 } })),
  weather('delay', (random) => ({ delayMs: random.whole(100, 2000) })),
  weather('throttle', (random) => ({ rate: random.whole(1000, 20_000) })),
  ...(['up', 'down'] as const).map((direction) =>
    weather(`close-after-${direction}`, (random) => ({
      closeAfter: {
        direction,
        bytes: random.chance(0.5) ? random.whole(1, 4096) : random.whole(1, 200_000),
        by: random.pick(['fin', 'reset'] as const),
      },
    })),
  ),
  link('refuse', async ({ source, random }) => {
    await source.proxy.change({ newcomers: 'refuse' });
    await wait(random.whole(100, 3000));
  }),
  link('mute', async ({ source, random }) => {
    await source.proxy.change({ newcomers: 'mute' });
    source.proxy.strike('reset');
    await wait(random.whole(500, 4000));
  }),
  link('flap', async ({ source, random }) => {
    for (let i = random.whole(3, 8); i > 0; i--) {
      source.proxy.strike(random.pick(['fin', 'reset'] as const));
      await wait(random.whole(50, 600));
    }
  }),
];

// ── The collector ───────────────────────────────────────────────────────────────────────────────────────────

const collector = (name: string, inject: (scene: Scene) => Promise<void>): Fault => ({
  name: `collector.${name}`,
  scope: 'source',
  inject,
});

/** Makes system calls of a running process fail or kill, from outside; answers when strace has let go. */
async function meddle(source: SourceProcess, inject: string, forMs: number): Promise<void> {
  const { child } = source;
  if (!child?.pid) return;
  const call = inject.slice(0, inject.indexOf(':'));
  const args = ['-f', '-qq', '-o', '/dev/null', '-e', `trace=${call}`, '-e', `inject=${inject}`];
  const strace = spawn('strace', [...args, '-p', String(child.pid)], { stdio: 'ignore' });
  const over = once(strace, 'exit').catch(() => undefined);
  await Promise.race([over, child.ended, wait(forMs)]);
  strace.kill('SIGTERM');
  await over;
}

const COLLECTOR_FAULTS: Fault[] = [
  collector('kill', async ({ source, random }) => {
    await source.kill();
    await wait(random.whole(0, 1500));
    await source.startSpeaking();
  }),
  collector('kill-in-write', async ({ source, random }) => {
    const call = random.pick(['pwrite64', 'fdatasync', 'write', 'ftruncate'] as const);
    await meddle(source, `${call}:signal=KILL:when=${random.whole(1, call === 'write' ? 60 : 12)}`, 1500);
    await source.kill();
    await source.startSpeaking();
  }),
  collector('kill-in-start', async ({ source, random }) => {
    await source.kill();
    for (let i = random.whole(1, 3); i > 0; i--) {
      source.start();
      await wait(random.whole(1, 600));
      await source.kill();
    }
    await source.startSpeaking();
  }),
  collector('term', async ({ source, random }) => {
    const ended = await source.stop();
    if (ended?.code !== 0) throw new Error(`a stop ended with ${ended?.code ?? ended?.signal}`);
    await wait(random.whole(0, 1000));
    await source.startSpeaking();
  }),
  collector('freeze', async ({ source, random }) => {
    source.signal('SIGSTOP');
    await wait(random.chance(0.1) ? 32_000 : random.whole(200, 4000));
    source.signal('SIGCONT');
  }),
  collector('clock', async ({ source, random }) => {
    writeFileSync(source.clockFile, String(clockOffset(random)));
    await wait(random.whole(500, 3000));
    writeFileSync(source.clockFile, '0');
  }),
  {
    ...collector('disk-full', async ({ source, random }) => {
      for (let i = random.whole(1, 3); i > 0; i--) {
        source.disk?.fill();
        await wait(random.whole(300, 2500));
        source.disk?.free();
        await wait(random.whole(0, 500));
      }
    }),
    suits: ({ disk }) => disk !== undefined,
  },
  collector('disk-error', ({ source, random }) =>
    meddle(source, `fdatasync:error=EIO:when=${random.whole(1, 3)}`, random.whole(300, 1500)),
  ),
  collector('twice', async ({ source }) => {
    const ended = await source.startTwin();
    if (ended.code !== 3) throw new Error(`a second process on one state folder ended with ${ended.code}`);
  }),
];

/** Up to ten years, or so little that it is the usual correction. */
const clockOffset = (random: Random): number =>
  (random.chance(0.5) ? random.whole(-3650, 3650) * DAY_MS : random.whole(-3_600_000, 3_600_000)) || 1;

// ── The server ──────────────────────────────────────────────────────────────────────────────────────────────

const server = (name: string, inject: (scene: Scene) => Promise<void>): Fault => ({
  name: `server.${name}`,
  scope: 'server',
  inject,
});

/** Of ingest, in its thread. */
const INGEST_STAGES = ['read', 'locked', 'dead-lettered', 'merged', 'recorded', 'marked', 'committed'];
export const STAGES = [...INGEST_STAGES, 'acknowledged'];
/** A stage that no batch reaches by then is not waited for: nothing is on its way. */
const STAGE_MS = 15_000;

const SERVER_FAULTS: Fault[] = [
  server('kill', async ({ world, random }) => {
    await world.server.kill();
    await wait(random.whole(0, 2000));
    await world.server.startReady();
  }),
  ...STAGES.map((stage) =>
    server(`kill-${stage}`, async ({ world, random }) => {
      const died = await world.diesWhen(stage, random.whole(1, 6), STAGE_MS);
      world.note(died ? `the server died when a batch was ${stage}` : `no batch was ${stage}`);
      if (!died) await world.server.kill();
      await world.server.startReady();
    }),
  ),
  {
    ...server('thread', async ({ world, random }) => {
      const stage = random.pick(INGEST_STAGES);
      const died = await world.threadDiesWhen(stage, random.whole(1, 6), STAGE_MS);
      world.note(died ? `the ingest thread died when a batch was ${stage}` : `no batch was ${stage}`);
    }),
    only: 'postgresql',
  },
  server('kill-in-start', async ({ world, random }) => {
    await world.server.kill();
    for (let i = random.whole(1, 2); i > 0; i--) {
      world.server.start();
      await wait(random.whole(10, 2500));
      await world.server.kill();
    }
    await world.server.startReady();
  }),
  server('term', async ({ world, random }) => {
    const ended = await world.server.stop();
    if (ended?.code !== 0) throw new Error(`a stop ended with ${ended?.code ?? ended?.signal}`);
    await wait(random.whole(0, 1000));
    await world.server.startReady();
  }),
  server('freeze', async ({ world, random }) => {
    world.server.signal('SIGSTOP');
    await wait(random.chance(0.1) ? 32_000 : random.whole(200, 4000));
    world.server.signal('SIGCONT');
  }),
  server('clock', async ({ world, random }) => {
    world.setServerClock(clockOffset(random));
    await wait(random.whole(500, 3000));
    world.setServerClock(0);
  }),
];

// ── PostgreSQL ──────────────────────────────────────────────────────────────────────────────────────────────

const database = (
  name: string,
  inject: (scene: Scene & { postgres: NonNullable<World['postgres']> }) => Promise<void>,
): Fault => ({
  name: `database.${name}`,
  scope: 'server',
  only: 'postgresql',
  inject: async (scene) => {
    const { postgres } = scene.world;
    if (postgres) await inject({ ...scene, postgres });
  },
});

const OTHERS = `FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`;

const DATABASE_FAULTS: Fault[] = [
  database('immediate', async ({ postgres, random }) => {
    await postgres.stop('immediate');
    await wait(random.whole(0, 3000));
    await postgres.start();
  }),
  database('fast', async ({ postgres, random }) => {
    await postgres.stop('fast');
    await wait(random.whole(0, 3000));
    await postgres.start();
  }),
  database('terminate', async ({ postgres }) => {
    await postgres.sql(`SELECT pg_terminate_backend(pid) ${OTHERS}`);
  }),
  database('cancel', async ({ postgres, random }) => {
    for (let i = random.whole(1, 10); i > 0; i--) {
      await postgres.sql(`SELECT pg_cancel_backend(pid) ${OTHERS} AND state = 'active'`);
      await wait(random.whole(1, 50));
    }
  }),
  database('freeze', async ({ postgres, random }) => {
    postgres.signal('SIGSTOP');
    await wait(random.whole(200, 4000));
    postgres.signal('SIGCONT');
  }),
  database('lock', async ({ postgres, random }) => {
    const table = random.pick(['collector_streams', 'events', 'devices', 'evidence', 'collectors'] as const);
    const seconds = random.whole(5, 40) / 10;
    await postgres.sql(`BEGIN; LOCK TABLE ${table}; SELECT pg_sleep(${seconds}); COMMIT`);
  }),
  database('immediate-and-server', async ({ world, postgres, random }) => {
    await Promise.all([postgres.stop('immediate'), world.server.kill()]);
    await wait(random.whole(0, 1000));
    await postgres.start();
    await world.server.startReady();
  }),
];

/** Kinds of fault that a database can meet. */
export const faultsOf = (kind: DatabaseKind): Fault[] =>
  [...LINK_FAULTS, ...COLLECTOR_FAULTS, ...SERVER_FAULTS, ...DATABASE_FAULTS].filter(
    ({ only }) => only === undefined || only === kind,
  );
