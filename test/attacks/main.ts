/** The command line of the attacks; see `scripts/attacks.mjs`. */
import { parseArgs } from 'node:util';
import { postgresPrograms } from '../chaos/postgres.ts';
import { attackAll, IDLE_SHARE, type Report } from './run.ts';
import { ATTACKERS, type AttackerName } from './scene.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    minutes: { type: 'string', default: '30' },
    only: { type: 'string', default: ATTACKERS.join() },
    json: { type: 'boolean', default: false },
  },
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));
const only = values.only.split(',') as AttackerName[];
const unknown = only.find((name) => !ATTACKERS.includes(name));
if (unknown !== undefined) refuse(`there is no attacker ${unknown}: ${ATTACKERS.join(', ')}`);
if (!postgresPrograms()) refuse('PostgreSQL is not installed (apt install postgresql)');

const seconds = (Number(values.minutes) * 60) / (only.length * (1 + IDLE_SHARE));
const write = (line: string) => process.stdout.write(`${line}\n`);
const say = (line: string) => void (values.json ? process.stderr : process.stdout).write(`${line}\n`);
const report = await attackAll({ seed: Number(values.seed), seconds, only, say });
const slow = Object.entries(report.attackers).flatMap(([who, { slow }]) =>
  slow.map((whom) => `${whom} under ${who}`),
);
const green = report.faults.length === 0 && slow.length === 0;
if (values.json) write(JSON.stringify({ ...report, green }, null, 2));
else print(report);
process.exit(green ? 0 : 1);

function refuse(why: string): never {
  process.stderr.write(`attacks: ${why}\n`);
  process.exit(2);
}

function print({ seed, attackers, honestRequests, crossings, crashes, serverErrors, faults }: Report): void {
  const sent = Object.values(attackers).reduce((sum, each) => sum + each.sent, 0);
  write(
    `\nseed ${seed}: ${sent} requests, messages and datagrams of attackers, ${honestRequests} honest requests beside them\n` +
      `crossings of a site ${crossings}, crashes or restarts ${crashes}, answers 5xx ${serverErrors}`,
  );
  for (const line of faults) write(`  ! ${line}`);
  if (slow.length > 0) write(`  ! waits more than three times as long as idle: ${slow.join(', ')}`);
  write(green ? 'attacks: green' : 'attacks: RED');
}
