import { act } from 'react';
import { expect, it, vi } from 'vitest';
import { ApiError } from '../../api-error.ts';
import { renderHook } from '../../testing/render-hook.ts';
import { fieldErrors, useSubmit } from './use-submit.ts';

const refused = new ApiError(400, {
  code: 'invalid_request',
  message: 'not as it should be',
  details: [
    { path: 'networks.0', message: 'not a network' },
    { path: 'networks.3', message: 'not one either' },
    { path: 'settings.snmp.port', message: 'too large' },
  ],
});

it('shows what the server says of a part of a field at the field, the first thing said', () => {
  expect(fieldErrors(refused.details)).toMatchObject({
    networks: 'not a network',
    'networks.3': 'not one either',
    'settings.snmp.port': 'too large',
  });
});

it('sends once however often it is asked, and clears what was refused before', async () => {
  let refuse: ((problem: ApiError) => void) | undefined;
  const send = vi.fn(() => new Promise<void>((_, reject) => (refuse = reject)));
  const setErrors = vi.fn();
  const hook = renderHook(() => useSubmit(send, setErrors), undefined);
  await act(async () => {
    void hook.current.submit();
  });
  await act(async () => {
    void hook.current.submit();
  });
  expect([send.mock.calls.length, hook.current.pending]).toEqual([1, true]);
  await act(async () => refuse?.(refused));
  expect(hook.current).toMatchObject({ pending: false, error: refused });
  expect(setErrors.mock.lastCall).toEqual([fieldErrors(refused.details)]);
  send.mockResolvedValueOnce(undefined);
  await act(async () => hook.current.submit());
  expect(hook.current).toMatchObject({ pending: false, error: undefined });
  expect(setErrors.mock.lastCall).toEqual([{}]);
});

it('does not load the page anew', async () => {
  const event = new Event('submit', { cancelable: true });
  const hook = renderHook(() => useSubmit(async () => undefined), undefined);
  await act(async () => hook.current.submit(event as never));
  expect(event.defaultPrevented).toBe(true);
});
