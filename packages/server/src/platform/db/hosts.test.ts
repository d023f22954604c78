import { expect, it } from 'vitest';
import { hostsOf } from './hosts.ts';

it.each([
  ['postgres://u:p@db/rollcall', 'postgres://u:p@db/rollcall', []],
  ['postgres:///rollcall?host=/run/postgresql', 'postgres:///rollcall?host=/run/postgresql', []],
  [
    'postgres://u:p@one,two:5433/rollcall?target_session_attrs=read-write',
    'postgres://u:p@one/rollcall',
    ['one:5432', 'two:5433'],
  ],
  [
    'postgresql://u@one:1,[2001:db8::1]:2,three/r?target_session_attrs=primary&sslmode=verify-full',
    'postgresql://u@one:1/r?sslmode=verify-full',
    ['one:1', '2001:db8::1:2', 'three:5432'],
  ],
  [
    'postgres://u@one,two/r?sslmode=require&target_session_attrs=any',
    'postgres://u@one/r?sslmode=require',
    ['one:5432', 'two:5432'],
  ],
])('reads the hosts of %s', (url, first, hosts) => {
  const read = hostsOf(url);
  expect(read.first).toBe(first);
  expect(read.hosts.map(({ host, port }) => `${host}:${port}`)).toEqual(hosts);
});

it('refuses a list with a hole in it', () => {
  expect(() => hostsOf('postgres://u@one,,two/r')).toThrow(/is no host/);
});
