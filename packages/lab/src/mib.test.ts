import { compareOid } from '@rollcall/shared/oid';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Entry, Mib } from './mib.ts';
import { integer } from './value.ts';

const arcs = fc.array(
  fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constantFrom(127, 128, 65_536, 4_294_967_295)),
  { minLength: 0, maxLength: 4 },
);
const oids = arcs.map((tail) => ['1', '3', ...tail].join('.'));

describe('Mib', () => {
  it('answers get, next and spans as a plain sorted list would, through any changes', () => {
    const change = fc.record({ kind: fc.constantFrom('set' as const, 'remove' as const), oid: oids });
    fc.assert(
      fc.property(
        fc.array(oids, { maxLength: 30 }),
        fc.array(change, { maxLength: 20 }),
        oids,
        (start, changes, probe) => {
          const mib = new Mib(start.map((oid, i): Entry => [oid, integer(i)]));
          const model = new Map(start.map((oid, i) => [oid, i]));
          for (const [i, { kind, oid }] of changes.entries()) {
            if (kind === 'set') {
              mib.set(oid, integer(1000 + i));
              model.set(oid, 1000 + i);
            } else {
              const gone = [...model.keys()].filter((o) => o === oid || o.startsWith(`${oid}.`));
              for (const o of gone) model.delete(o);
              expect(mib.remove(oid)).toBe(gone.length);
            }
          }
          const sorted = [...model.keys()].sort(compareOid);
          expect([...mib.under()].map((o) => o.oid)).toEqual(sorted);
          expect(mib.size).toBe(sorted.length);
          expect(mib.get(probe)?.value).toBe(model.get(probe));
          const next = mib.after(probe);
          const rest = sorted.filter((o) => compareOid(o, probe) > 0);
          for (const oid of rest) expect(next()).toEqual({ oid, value: integer(model.get(oid) ?? -1) });
          expect(next()).toBeUndefined();
          expect(mib.hasUnder(probe)).toBe(sorted.some((o) => o === probe || o.startsWith(`${probe}.`)));
        },
      ),
    );
  });

  it('keeps the last of two objects with one OID', () => {
    const mib = new Mib([
      ['1.3.2', integer(1)],
      ['1.3.1', integer(2)],
      ['1.3.2', integer(3)],
    ]);
    expect([...mib.under()].map((o) => o.value.value)).toEqual([2, 3]);
  });

  it('asks moving values for the time of the question', () => {
    let seconds = 5;
    const mib = new Mib([['1.3.1', (uptime) => integer(uptime * 100)]], { uptime: () => seconds });
    expect(mib.get('1.3.1')).toEqual(integer(500));
    seconds = 9;
    expect(mib.get('1.3.1')).toEqual(integer(900));
  });
});
