// npm run bench:drain -- [--backlog 1000000] [--rate 100] [--database postgresql|pglite] [--check]
//
// A collector comes back with a backlog: how fast does it drain, and how late are events that happen meanwhile? Observes
// --rate per second all the while, a third of it events. Late is from the observation to the acknowledgement, which comes
// after the commit; it holds the drain's rate against --rate. Ends with 1 under --check when an event was more than 5 s
// late, the drain was less than 10 times --rate, or anything was lost or doubled.
import '../scripts/usage.mjs';
import { parseArgs } from 'node:util';
import { eventually } from '../test/chaos/dist/child.js';
import { World } from '../test/chaos/dist/world.js';

const { values } = parseArgs({
  options: {
    backlog: { type: 'string', default: '1000000' },
    rate: { type: 'string', default: '100' },
    database: { type: 'string', default: 'postgresql' },
    check: { type: 'boolean', default: false },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  console.log('bench:drain [--backlog 1000000] [--rate 100] [--database postgresql|pglite] [--check]');
  process.exit(0);
}
const [backlog, rate] = [Number(values.backlog), Number(values.rate)];
const FILL_RATE = 20_000;
const MOST_MS = 3_600_000;
const seconds = (since) => (performance.now() - since) / 1000;

const world = await World.create({ database: values.database, sources: 1, rate: 0 });
const [source] = world.sources;
try {
  await source.proxy.change({ newcomers: 'refuse' });
  const filling = performance.now();
  source.setOnly('state');
  source.setRate(FILL_RATE);
  await eventually(() => source.told.depth >= backlog, MOST_MS, 50);
  source.setRate(0);
  await eventually(() => source.told.kept === source.told.depth, 30_000, 50);
  const filled = source.told.depth;
  console.log(`${values.database}: ${filled} observations on disk after ${seconds(filling).toFixed(0)} s`);

  source.setOnly('all');
  source.setRate(rate);
  await source.proxy.calm();
  await eventually(() => source.linked, 60_000, 10);
  const begun = performance.now();
  const late = [];
  // What was observed before the link was up waited for the link, not for the backlog.
  source.onTold = ({ lateMs }) => {
    if (lateMs > 0 && seconds(begun) > 2) late.push(lateMs);
  };
  const telling = setInterval(() => process.stderr.write(`  ${source.told.depth} left\n`), 10_000);
  // Batches of what comes meanwhile are always on their way.
  await eventually(() => source.told.depth <= rate, MOST_MS, 50);
  const took = seconds(begun);
  clearInterval(telling);
  source.onTold = undefined;
  source.setRate(0);
  await source.drained(60_000);
  const verdict = await world.verdict();

  late.sort((a, b) => a - b);
  const at = (share) => ((late[Math.floor((late.length - 1) * share)] ?? 0) / 1000).toFixed(2);
  const perSecond = filled / took;
  console.log(
    [
      `drained in ${took.toFixed(1)} s: ${perSecond.toFixed(0)} observations/s, ${(perSecond / rate).toFixed(1)} times the ${rate}/s that arrive`,
      `fresh events acknowledged after ${at(0.5)} s (median), ${at(0.95)} s (p95), ${at(1)} s (most)`,
      `lost ${verdict.lost}, doubled ${verdict.doubled}, altered ${verdict.altered} of ${verdict.observed}`,
    ].join('\n'),
  );
  const bad = at(1) > 5 || perSecond < 10 * rate || verdict.lost + verdict.doubled + verdict.altered > 0;
  process.exitCode = values.check && bad ? 1 : 0;
} finally {
  await world.destroy();
}
