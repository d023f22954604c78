/** What vendors' MIBs say of devices that no rule knows. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { openCatalogue } from './catalogue.ts';
import { classifier } from './classify.ts';
import { loadRules } from './rules.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollcall-catalogue-'));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(
  join(folder, 'inventory.txt'),
  [
    '99990 {"model":[["1.1.0"],["5.1.2"]],"serial":[["1.3.0"],["5.1.4","6.2.0"]]}',
    '99991 {"version":[[],["2.0"]]}',
    '',
  ].join('\n'),
);
writeFileSync(join(folder, 'products.txt'), '99990 2.7=alphaSwitch24 2.8=alphaSwitch48\n99991 1=beta\n');
const E = '1.3.6.1.4.1.99990';

describe('a catalogue', () => {
  const catalogue = openCatalogue(folder);

  it('has collectors read the objects of each enterprise', () => {
    expect(catalogue.extra).toEqual([
      { prefix: E, oids: [`${E}.1.1.0`, `${E}.5.1.2`, `${E}.1.3.0`, `${E}.5.1.4`, `${E}.6.2.0`] },
      { prefix: '1.3.6.1.4.1.99991', oids: ['1.3.6.1.4.1.99991.2.0'] },
    ]);
  });

  it('finds scalars, columns as asked for, and rows of a sample, the surest first', () => {
    const facts = {
      [`${E}.5.1.4.3.1`]: 'row',
      [`${E}.6.2.0`]: 'later',
      [`${E}.1.3.0`]: 'own',
      [`${E}.9.9.0`]: 'no',
    };
    expect(catalogue.named('serial', facts)).toEqual([
      expect.objectContaining({ text: 'own', sure: true }),
      expect.objectContaining({ text: 'row', sure: false }),
      expect.objectContaining({ text: 'later', sure: false }),
    ]);
    expect(catalogue.named('model', { [`${E}.5.1.2`]: 'first row' })).toHaveLength(1);
    // A scalar is no column: nothing lies below it.
    expect(catalogue.named('model', { [`${E}.1.1.0.1`]: 'below' })).toEqual([]);
  });

  it.each([
    [`${E}.2.7`, 'alphaSwitch24'],
    [`${E}.2.9`, null],
    ['1.3.6.1.4.1.99991.1', 'beta'],
    ['1.3.6.1.4.1.99992.1', null],
    ['1.3.6.1.4.1', null],
    ['1.2.3', null],
  ])('names the product %s', (oid, name) => {
    expect(catalogue.product(oid)).toBe(name);
  });
});

describe('the product’s catalogue', () => {
  const all = loadRules([fileURLToPath(new URL('../../../../../rules/', import.meta.url))]);
  /** No rule of any maker. */
  const classify = classifier({ ...all, rules: [] });

  it('knows where a maker’s devices keep model, version and serial number', () => {
    // Advantech's MIB: three scalars side by side.
    const box = '1.3.6.1.4.1.30140';
    expect(
      classify({
        system: { sysObjectId: `${box}.1.10`, sysDescr: 'Cellular router' },
        chassis: [],
        vendor: { [`${box}.6.1.0`]: 'XR5i v2', [`${box}.6.2.0`]: '6.1.9', [`${box}.6.3.0`]: '5401237' },
      }),
    ).toMatchObject({
      model: 'XR5i v2',
      osVersion: '6.1.9',
      serial: '5401237',
      by: { model: 'catalogue', osVersion: 'catalogue', serial: 'catalogue' },
    });
  });

  it.each([
    ['6.1.9, built Mon, 04 Dec 2017 10:31', '6.1.9'],
    ['V.10.2.9.102 IPv6, telephony from 2021/03/16', 'V.10.2.9.102'],
    ['Box 40 FW Version 4.08', '4.08'],
    ['Box GPS 6010-0065-000 v 3.04 - Sep 24 2019', '3.04'],
    ['Scaler NS12.0: Build 57.19.nc, Date: Feb 26 2018', 'NS12.0'],
    ['a name without any', null],
  ])('takes the version alone out of "%s"', (text, version) => {
    const box = '1.3.6.1.4.1.30140';
    const { osVersion } = classify({
      system: { sysObjectId: `${box}.1.10` },
      chassis: [],
      vendor: { [`${box}.6.2.0`]: text },
    });
    expect(osVersion).toBe(version);
  });

  it('takes the model with a number before the kind of thing', () => {
    const rack = '1.3.6.1.4.1.674.10892.5';
    const { model } = classify({
      system: { sysObjectId: rack },
      chassis: [],
      vendor: { [`${rack}.1.1.1.0`]: 'Controller', [`${rack}.1.3.12.0`]: 'Edge R99' },
    });
    expect(model).toBe('Edge R99');
  });

  it('tells what collectors are to read, within what one device may cost', () => {
    const extra = all.ruleset.extra.filter(({ prefix }) => prefix === '1.3.6.1.4.1.30140');
    expect(extra.flatMap(({ oids }) => oids)).toContain('1.3.6.1.4.1.30140.6.3.0');
    expect(Math.max(...all.catalogue.extra.map(({ oids }) => oids.length))).toBeLessThanOrEqual(48);
  });
});
