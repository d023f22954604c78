/** The short form of `npm run test:attacks`: every attacker once, from one seed. How long others wait is not judged here. */
import { skipped } from '@rollcall/shared/testing/skipped';
import { describe, expect, it } from 'vitest';
import { attackAll, type Report } from '../attacks/run.ts';
import { ATTACKERS } from '../attacks/scene.ts';
import { postgresPrograms } from '../chaos/postgres.ts';

const SECONDS = 2;
const missing = 'attacks on a whole installation: install postgresql';
if (!postgresPrograms() && process.env.CI) throw new Error(missing);
if (!postgresPrograms()) skipped(missing);

describe.skipIf(!postgresPrograms())('attackers of one site', () => {
  it('reach nothing of another, end no process and are answered no 5xx', async () => {
    const said: string[] = [];
    const report: Report = await attackAll({ seed: 25, seconds: SECONDS, say: (line) => said.push(line) });
    process.stdout.write(`${said.join('\n')}\n`);
    expect(report).toMatchObject({ faults: [], crossings: 0, crashes: 0, serverErrors: 0 });
    for (const who of ATTACKERS) expect(report.attackers[who]?.sent, who).toBeGreaterThan(20);
  }, 240_000);
});
