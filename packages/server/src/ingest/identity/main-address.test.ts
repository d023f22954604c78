import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mainAddress, type Place, type Standing } from './main-address.ts';

const place = (address: string, more: Partial<Place> = {}): Place => ({
  address,
  answered: true,
  on: 'interface',
  alone: false,
  virtual: false,
  ...more,
});
const silent = { answered: false };
const unlisted = { on: null };
const device = (places: Place[], more: Partial<Standing> = {}): Standing => ({
  address: '10.0.0.1',
  places,
  isNew: false,
  watched: null,
  missedScans: 0,
  missedUntilGone: 3,
  ...more,
});

describe('the main address', () => {
  const [A, B, LO] = ['10.0.0.1', '10.0.1.1', '10.255.0.1'];
  it.each<[what: string, standing: Standing, moves: string | null]>([
    ['stays while it answers', device([place(A), place(B), place(LO, { on: 'loopback' })]), null],
    ['stays where it was not asked', device([place(A, { answered: null }), place(B)]), null],
    [
      'moves where it was not asked and the box lists others only',
      device([place(A, { answered: null, ...unlisted }), place(B)]),
      `${B} silent`,
    ],
    ['stays while it answers, whatever the box lists', device([place(A, unlisted), place(B)]), null],
    [
      'of a host without a table stays where it was not asked',
      device([place(A, { answered: null, ...unlisted }), place(B, unlisted)]),
      null,
    ],
    [
      'moves when it is silent and the box no longer lists it',
      device([place(A, { ...silent, ...unlisted }), place(B)], { missedScans: 1 }),
      `${B} silent`,
    ],
    [
      'moves from a host without a table when it is silent',
      device([place(A, { ...silent, ...unlisted }), place(B, unlisted)], { missedScans: 1 }),
      `${B} silent`,
    ],
    [
      'moves when another scan found it silent',
      device([place(A, { answered: null, ...unlisted }), place(B)], { missedScans: 1 }),
      `${B} silent`,
    ],
    [
      'stays for a lost answer where the box lists it',
      device([place(A, silent), place(B)], { missedScans: 1 }),
      null,
    ],
    [
      'moves when it is silent scan after scan',
      device([place(A, silent), place(B)], { missedScans: 2 }),
      `${B} silent`,
    ],
    [
      'is not judged by scans while the watch hears it',
      device([place(A, silent), place(B)], { missedScans: 9, watched: 'up' }),
      null,
    ],
    [
      'moves when it is silent and the box left it, which the watch did not notice yet',
      device([place(A, { ...silent, ...unlisted }), place(B)], { missedScans: 1, watched: 'up' }),
      `${B} silent`,
    ],
    [
      'stays at the first scan of an outage: ways return in any order',
      device([place(A, silent), place(B)], { missedScans: 1, watched: 'down' }),
      null,
    ],
    [
      'stays when it answered the scan, whatever the watch',
      device([place(A), place(B)], { watched: 'down' }),
      null,
    ],
    [
      'is that of a loopback interface where a scan finds the device first',
      device([place(A), place(B), place(LO, { on: 'loopback' })], { isNew: true }),
      `${LO} new`,
    ],
    [
      'is the lowest of equals where a scan finds the device first',
      device([place('10.0.1.1'), place('10.0.0.9')], { isNew: true, address: '10.0.1.1' }),
      '10.0.0.9 new',
    ],
    [
      'is never a virtual one',
      device([place(A, { virtual: true }), place(B)], { watched: 'up' }),
      `${B} virtual`,
    ],
    [
      'is not moved to a virtual one',
      device([place(A, silent), place(B, { virtual: true })], { missedScans: 9, watched: 'down' }),
      null,
    ],
    [
      'is no address that may move to another box, while there is one that may not',
      device([place(A, { ...silent, ...unlisted }), place('10.0.0.250', { alone: true }), place(B)]),
      `${B} silent`,
    ],
    ['is virtual where there is no other', device([place(A, { virtual: true })]), null],
  ])('%s', (_what, standing, moves) => {
    const move = mainAddress(standing);
    expect(move && `${move.address} ${move.reason}`).toBe(moves);
  });

  it('never takes turns: settled, with whatever answers as before, it stays', () => {
    const places = fc.uniqueArray(
      fc.record<Place>({
        address: fc.integer({ min: 1, max: 9 }).map((n) => `10.0.0.${n}`),
        answered: fc.constantFrom(true, false, null),
        on: fc.constantFrom('loopback', 'interface', null),
        alone: fc.boolean(),
        virtual: fc.boolean(),
      }),
      { minLength: 1, maxLength: 6, selector: ({ address }) => address },
    );
    fc.assert(
      fc.property(
        places,
        fc.boolean(),
        fc.constantFrom('up' as const, 'down' as const, null),
        fc.nat(4),
        (all, isNew, watched, missedScans) => {
          const standing = device(all, { isNew, watched, missedScans, address: all[0]?.address ?? '' });
          const move = mainAddress(standing);
          if (!move) return;
          expect(all.find(({ address }) => address === move.address)).toMatchObject({
            answered: true,
            virtual: false,
          });
          const next = { ...standing, address: move.address, isNew: false, missedScans: 0 };
          expect(mainAddress(next)).toBeNull();
        },
      ),
    );
  });
});
