import { expect, it } from 'vitest';
import { connectedText } from './connected.tsx';

const shown = [{ mac: '00:1b:54:00:00:77', maker: 'Cisco', deviceId: null, name: null, address: '10.0.0.9' }];
const phone = { deviceId: null, name: 'phone-7', port: 'Port 1', protocol: 'lldp', kind: 'phone' as const };

it.each([
  ['a phone alone', phone, 1, 'phone-7 Port 1 phone'],
  ['a phone with a PC behind', phone, 2, 'phone-7 Port 1 phone, 1 address behind it'],
  [
    'an access point',
    { ...phone, kind: 'access-point' as const },
    40,
    'phone-7 Port 1 access point, 39 addresses behind it',
  ],
  ['a device of the inventory', { ...phone, deviceId: 'x' }, 2, 'phone-7 Port 1'],
  ['what does not say what it is', { ...phone, kind: null }, 2, 'phone-7 Port 1'],
  ['an endpoint', null, 1, '10.0.0.9 Cisco'],
])('%s', (_name, neighbour, count, words) => {
  expect(connectedText({ neighbour, endpoints: { count, shown } })).toBe(words);
});
