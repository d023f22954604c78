import { expect, it } from 'vitest';
import { settingsOf } from './site-settings.ts';

it.each<[what: string, stored: unknown]>([
  ['nothing', null],
  ['no object', 'monitorFound'],
])('%s leaves the defaults', (_, stored) => {
  expect(settingsOf(stored)).toMatchObject({ monitorFound: 'infrastructure', missedScansUntilGone: 3 });
});

it('what another version wrote leaves the other settings as they are', () => {
  const stored = {
    monitorFound: 'none',
    missedScansUntilGone: 50,
    later: 1,
    snmpPort: 'sixteen',
    thresholds: { loss: 5 },
  };
  const settings = settingsOf(stored);
  expect(settings).toMatchObject({
    monitorFound: 'none',
    missedScansUntilGone: 50,
    snmpPort: 161,
    thresholds: { loss: 5 },
  });
  expect(settings).not.toHaveProperty('later');
});
