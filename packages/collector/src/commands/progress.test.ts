import { PassThrough } from 'node:stream';
import { OUTCOMES, type OutcomeCode } from '@rollcall/shared/model';
import { expect, it } from 'vitest';
import { Progress } from './progress.ts';

it('sums up how addresses ended, one that a limit cut short apart from those that were read', () => {
  const progress = new Progress(new PassThrough(), 10);
  for (const code of Object.keys(OUTCOMES) as OutcomeCode[]) progress.count(code);
  expect(progress.summary(1.5)).toBe(
    '10 addresses in 1.50 s: 6 alive, 1 read by SNMP, 1 cut short by a limit, 1 further addresses of those, ' +
      '1 refused our credentials, 1 silent to SNMP, 1 silent, 1 excluded, 1 errors',
  );
});
