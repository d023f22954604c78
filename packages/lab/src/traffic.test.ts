import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { demoSite } from './demo.ts';
import { portNamed } from './device.ts';
import { type Carried, carried } from './traffic.ts';

const site = demoSite();
const box = (name: string) => {
  const found = site.devices.find((device) => device.name === name);
  if (!found) throw new Error(`no ${name}`);
  return found;
};
const START = 1_764_000_000;
/** bit/s over the minute that begins so many seconds after the start. */
const rate = (name: string, port: string, direction: 'in' | 'out', at: number) => {
  const device = box(name);
  const octets = (uptime: number) =>
    carried(device, portNamed(device, port), direction, START, uptime).octets;
  return Number(octets(at + 60) - octets(at)) * (8 / 60);
};

describe('traffic', () => {
  it('never runs backwards and never faster than the port, in both directions of every port', () => {
    const device = fc.constantFrom(...site.devices);
    const uptime = fc.double({ min: 0, max: 30 * 86_400, noNaN: true });
    fc.assert(
      fc.property(
        device,
        fc.nat(),
        uptime,
        fc.double({ min: 0, max: 600, noNaN: true }),
        (one, n, at, over) => {
          const port = one.ports[n % one.ports.length];
          if (!port) return;
          for (const direction of ['in', 'out'] as const) {
            const before = carried(one, port, direction, START, at);
            const after = carried(one, port, direction, START, at + over);
            for (const key of Object.keys(before) as (keyof Carried)[])
              expect(after[key], `${one.name} ${port.name} ${key}`).toBeGreaterThanOrEqual(before[key]);
            expect(Number(after.octets - before.octets)).toBeLessThanOrEqual((port.speed * over) / 8 + 1);
          }
        },
      ),
    );
  });

  it('has a working day', () => {
    const at = (hour: number) => rate('core-1', 'Twe1/0/3', 'in', ((hour * 3600 - START) % 86_400) + 86_400);
    expect(at(3)).toBeLessThan(at(14) / 3);
    expect(at(14)).toBeGreaterThan(1e6);
  });

  it('that goes out of one end of a cable comes in at the other', () => {
    for (const at of [0, 5000, 50_000])
      expect(rate('core-1', 'Twe1/0/3', 'out', at)).toBeCloseTo(rate('dist-1', '1/1/49', 'in', at), -3);
  });

  it('fills one line, and is damaged at one port', () => {
    for (const at of [0, 3600, 40_000]) {
      expect(rate('edge-1', 'Gi0/0/1', 'out', at)).toBeGreaterThan(0.95e9);
      expect(rate('branch-1', 'Gi0/0/0', 'in', at)).toBeGreaterThan(0.95e9);
      expect(rate('edge-1', 'Gi0/0/1', 'in', at)).toBeLessThan(0.5e9);
    }
    const errors = (name: string, port: string) =>
      carried(box(name), portNamed(box(name), port), 'in', START, 60).errors;
    expect(errors('access-2', 'Gi1/0/3')).toBeGreaterThan(0n);
    expect(errors('access-2', 'Gi1/0/4')).toBe(0n);
  });
});
