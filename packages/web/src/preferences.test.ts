import { expect, it, vi } from 'vitest';
import { loadPreferences, savePreferences } from './preferences.ts';

const VIEWS = { devices: [{ name: 'Down', search: { status: 'down' }, columns: ['name'] }] };

it('leaves nothing to the next person whose session begins in the same window', () => {
  vi.useFakeTimers();
  const first = vi.fn();
  const second = vi.fn();
  expect(loadPreferences({ theme: 'dark', views: VIEWS }, first)).toMatchObject({
    theme: 'dark',
    views: VIEWS,
  });
  savePreferences({ zone: 'UTC' });
  expect(loadPreferences({}, second)).toMatchObject({ theme: 'auto', zone: 'local', views: {} });
  vi.runAllTimers();
  expect([first, second].map((store) => store.mock.calls.length)).toEqual([0, 0]);
  savePreferences({ times: 'absolute', defaultSite: 'Berlin' });
  vi.runAllTimers();
  expect(second).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ times: 'absolute', defaultSite: 'Berlin', zone: 'local', views: {} }),
  );
  vi.useRealTimers();
});
