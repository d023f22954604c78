import { allowDatagramIcmp, enterOwnNetwork } from '@rollcall/host/testing/own-network';
import { AddressSpace } from '@rollcall/shared/address-space';
import { Range } from '@rollcall/shared/ip';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chooseEcho, describeChoice } from './choose.ts';
import { type EchoEvents, EchoRefused } from './echo.ts';

const DEAF: EchoEvents = { heard: () => undefined, failed: () => undefined };
const LOOPBACK = new AddressSpace([new Range(4, 0x7f00_0001n, 0x7f00_0001n)]);

describe.skipIf(!enterOwnNetwork())('choosing an engine', () => {
  beforeEach(() => allowDatagramIcmp(true));
  afterEach(() => process.seteuid?.(0));

  it('takes the datagram socket where the kernel allows it', async () => {
    const { choices, open } = await chooseEcho();
    expect(choices).toEqual([
      { family: 4, engine: 'datagram', refusals: [] },
      { family: 6, engine: 'datagram', refusals: [] },
    ]);
    open(LOOPBACK, DEAF).close();
  });

  it('falls back to the raw socket, and keeps why', async () => {
    allowDatagramIcmp(false);
    const { choices } = await chooseEcho();
    expect(choices[0]).toMatchObject({
      engine: 'raw',
      refusals: [
        {
          engine: 'datagram',
          family: 4,
          code: 'EACCES',
          reason: expect.stringContaining('ping_group_range'),
        },
      ],
    });
    expect(choices[0].refusals[0]?.remedy).toContain('sysctl -w net.ipv4.ping_group_range');
    expect(describeChoice(choices[0])).toMatch(/^ICMP IPv4: raw \(datagram: no group .*; sysctl/);
  });

  it('says what is missing when nothing is allowed', async () => {
    allowDatagramIcmp(false);
    process.seteuid?.(65_534);
    const { choices, open } = await chooseEcho(['datagram', 'raw']);
    expect(choices[0].engine).toBeNull();
    expect(choices[0].refusals.map(({ engine, code }) => [engine, code])).toEqual([
      ['datagram', 'EACCES'],
      ['raw', 'EPERM'],
    ]);
    expect(choices[0].refusals[1]?.remedy).toContain('CAP_NET_RAW');
    expect(() => open(LOOPBACK, DEAF)).toThrow(EchoRefused);
    expect(() => open(LOOPBACK, DEAF)).toThrow(/IPv4 by raw: raw sockets need CAP_NET_RAW/);
  });

  it('an engine withdrawn after the choice is a refusal, too', async () => {
    const { open } = await chooseEcho(['datagram']);
    allowDatagramIcmp(false);
    expect(() => open(LOOPBACK, DEAF)).toThrow(EchoRefused);
  });
});
