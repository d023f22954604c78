import type { Role } from '@rollcall/shared/model';
import { describe, expect, it, vi } from 'vitest';

vi.mock('virtual:operations', () => ({
  default: {
    'devices.list': ['GET', '/api/devices', ['search', 'class'], 'viewer'],
    'devices.get': ['GET', '/api/devices/{id}', [], 'viewer'],
    'devices.delete': ['DELETE', '/api/devices/{id}', [], 'admin'],
    'session.create': ['POST', '/api/session', [], 'public'],
  },
}));
const { addressOf, isAllowed } = await import('./api.ts');

describe('the address of a request', () => {
  it('has what the operation knows, each value once, and nothing that is empty', () => {
    const query = { search: 'core 1', class: ['router', 'switch'], view: 'list', sort: undefined };
    expect(addressOf('devices.list', { query })).toEqual([
      'GET',
      '/api/devices?search=core+1&class=router&class=switch',
    ]);
    expect(addressOf('devices.list', { query: { search: '' } })).toEqual(['GET', '/api/devices']);
  });

  it('escapes what stands in the path', () => {
    expect(addressOf('devices.get', { params: { id: 'a/b' } })).toEqual(['GET', '/api/devices/a%2Fb']);
  });
});

it('is offered to who may call it', () => {
  expect(['viewer', 'operator', 'admin'].filter((role) => isAllowed('devices.delete', role as Role))).toEqual(
    ['admin'],
  );
  expect(isAllowed('devices.get', 'viewer')).toBe(true);
  expect(isAllowed('session.create', 'viewer')).toBe(true);
});
