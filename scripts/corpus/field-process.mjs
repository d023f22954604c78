// Child of `corpus.mjs`: agents that replay recordings, and collectors, a pair for each site.
import { startCollector } from '@rollcall/collector/agent';
import { join } from '@rollcall/collector/link/join';
import { settings } from '@rollcall/collector/platform/config';
import { openLog } from '@rollcall/collector/platform/log';
import { serveRecording } from '@rollcall/lab/testing/replay';
import { Wire } from '@rollcall/lab/wire';
import { systemClock } from '@rollcall/shared/clock';

const log = await openLog(process.env.LOG_LEVEL ?? 'warn');
const sites = new Map();

async function open({ site, placed, port, url, token, state }) {
  const wire = new Wire(port);
  const stops = [() => wire.stop()];
  sites.set(site, stops);
  for (const { address, path } of placed) await serveRecording(wire, address, path);
  await join({ stateFolder: state, url, token, name: site });
  const collector = await startCollector({
    stateFolder: state,
    settings: settings.parse({}),
    clock: systemClock,
    log,
  });
  stops.push(() => collector.stop());
}

async function close({ site }) {
  for (const stop of (sites.get(site) ?? []).reverse()) await stop();
  sites.delete(site);
}

const orders = { open, close };
process.on('message', async ({ id, do: name, ...order }) => {
  try {
    await orders[name](order);
    process.send({ id });
  } catch (error) {
    process.send({ id, error: error.stack ?? String(error) });
  }
});
process.on('disconnect', async () => {
  for (const site of sites.keys()) await close({ site });
  process.exit(0);
});
