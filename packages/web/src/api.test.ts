import type { Role } from '@rollcall/shared/model';
import { afterEach, describe, expect, it, vi } from 'vitest';

vi.mock('virtual:operations', () => ({
  default: {
    'devices.list': ['GET', '/api/devices', ['search', 'class', 'page', 'pageSize'], 'viewer'],
    'devices.get': ['GET', '/api/devices/{id}', [], 'viewer'],
    'devices.delete': ['DELETE', '/api/devices/{id}', [], 'admin'],
    'session.create': ['POST', '/api/session', [], 'public'],
  },
}));
const { addressOf, csvPages, isAllowed } = await import('./api.ts');

afterEach(() => vi.unstubAllGlobals());

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

describe('a list as CSV', () => {
  it('is asked for page by page and has the line of names once', async () => {
    vi.stubGlobal('fetch', async (url: string, { headers }: { headers: Record<string, string> }) => {
      const page = new URL(url, 'http://x').searchParams.get('page');
      expect(headers.Accept).toBe('text/csv');
      return new Response(`id,name\r\n${page},"a\r\nb"\r\n`, { headers: { 'X-Total-Count': '5' } });
    });
    const parts = [];
    for await (const part of csvPages('devices.list', {}, { pageSize: 2 })) parts.push(part);
    expect(parts).toEqual([
      { text: 'id,name\r\n1,"a\r\nb"\r\n', done: 2, total: 5 },
      { text: '2,"a\r\nb"\r\n', done: 4, total: 5 },
      { text: '3,"a\r\nb"\r\n', done: 6, total: 5 },
    ]);
  });

  it('that is refused is told', async () => {
    const error = { code: 'forbidden', message: 'no', requestId: 'x' };
    vi.stubGlobal('fetch', async () => Response.json({ success: false, error }, { status: 403 }));
    await expect(csvPages('devices.list', {}, { pageSize: 2 }).next()).rejects.toMatchObject({
      status: 403,
      message: 'no',
    });
  });
});
