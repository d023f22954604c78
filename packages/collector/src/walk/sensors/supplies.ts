/** What runs out or has a budget: supplies of Printer-MIB (RFC 3805), ports of POWER-ETHERNET-MIB (RFC 3621). */
import type { SensorKind, SensorReading, SensorStatus } from '@rollcall/shared/sensors';
import { columns, type Standard, stateReading } from './standard.ts';
import { canBe, isMarker, rounded, type Values } from './values.ts';

const SUPPLY = '1.3.6.1.2.1.43.11.1.1';
const supply = { class: 4, description: 6, unit: 7, most: 8, level: 9 };
/** prtMarkerSuppliesClass receptacleThatIsFilled: its level is how full it is. */
const RECEPTACLE = 4;
/** PrtMarkerSuppliesSupplyUnitTC percent. */
const PERCENT = 19;
/** prtInputTable: trays, in sheets. */
const INPUT = '1.3.6.1.2.1.43.8.2.1';
const input = { most: 9, level: 10, name: 13, description: 18 };
const LIFE_COUNT = '1.3.6.1.2.1.43.10.2.1.4';

export const printer: Standard = {
  columns: [
    ...columns(SUPPLY, ...Object.values(supply)),
    ...columns(INPUT, ...Object.values(input)),
    LIFE_COUNT,
  ],
  decode: (values) => [...supplies(values), ...trays(values), ...pages(values)],
};

function supplies(values: Values): SensorReading[] {
  const found: SensorReading[] = [];
  for (const index of values.column(`${SUPPLY}.${supply.level}`).keys()) {
    const at = (column: number) => values.number(`${SUPPLY}.${column}`, index);
    const [level, most] = [at(supply.level), at(supply.most)];
    // Negative numbers are words: other, unknown, some is left.
    if (level === undefined || level < 0) continue;
    const share =
      most !== undefined && most > 0 ? (100 * level) / most : at(supply.unit) === PERCENT ? level : undefined;
    if (share === undefined || !canBe('supply', share)) continue;
    const name = values.text(`${SUPPLY}.${supply.description}`, index) ?? `Supply ${index}`;
    const value = rounded(at(supply.class) === RECEPTACLE ? 100 - share : share);
    found.push({ key: `${SUPPLY}.${supply.level}.${index}`, kind: 'supply', name, value });
  }
  return found;
}

function trays(values: Values): SensorReading[] {
  const found: SensorReading[] = [];
  for (const index of values.column(`${INPUT}.${input.level}`).keys()) {
    const [level, most] = [input.level, input.most].map((column) =>
      values.number(`${INPUT}.${column}`, index),
    );
    if (level === undefined || most === undefined || level < 0 || most <= 0 || level > most) continue;
    const named = values.text(`${INPUT}.${input.name}`, index);
    const name = named ?? values.text(`${INPUT}.${input.description}`, index) ?? `Tray ${index}`;
    const value = rounded((100 * level) / most);
    found.push({ key: `${INPUT}.${input.level}.${index}`, kind: 'supply', name, value });
  }
  return found;
}

function pages(values: Values): SensorReading[] {
  return [...values.column(LIFE_COUNT).keys()].flatMap((index) => {
    const value = values.number(LIFE_COUNT, index);
    return value === undefined || value < 0
      ? []
      : [
          {
            key: `${LIFE_COUNT}.${index}`,
            kind: 'count' as const,
            name: `Marker ${index.split('.').at(-1)} count`,
            value,
          },
        ];
  });
}

const PSE = '1.3.6.1.2.1.105.1.3.1.1';
const pse = { power: 2, state: 3, used: 4, threshold: 5 };
const STATES: readonly (readonly [string, SensorStatus])[] = [
  ['on', 'ok'],
  ['off', 'unknown'],
  ['faulty', 'critical'],
];

export const powerEthernet: Standard = {
  columns: columns(PSE, ...Object.values(pse)),
  decode(values) {
    const found: SensorReading[] = [];
    for (const index of values.column(`${PSE}.${pse.used}`).keys()) {
      const at = (column: number) => values.number(`${PSE}.${column}`, index);
      const [used, power, threshold] = [at(pse.used), at(pse.power), at(pse.threshold)];
      const name = `PoE ${index}`;
      if (used !== undefined && used >= 0)
        found.push({
          key: `${PSE}.${pse.used}.${index}`,
          kind: 'power',
          name,
          value: used,
          ...(power ? { limits: { high: power } } : {}),
        });
      if (used !== undefined && power !== undefined && power > 0 && used <= power)
        found.push({
          key: `${PSE}.${threshold === undefined ? pse.power : pse.threshold}.${index}`,
          kind: 'load',
          name: `${name} budget`,
          value: rounded((100 * used) / power),
          ...(threshold !== undefined && threshold > 0 && threshold < 100
            ? { limits: { highWarning: threshold } }
            : {}),
        });
      const state = STATES[(at(pse.state) ?? 0) - 1];
      if (state) found.push(stateReading(`${PSE}.${pse.state}.${index}`, name, 'psu', state));
    }
    return found;
  },
};

const PHY_TEST_TABLES = ['1.3.6.1.4.1.89.90.1.2.1.3', '1.3.6.1.4.1.9.6.1.101.90.1.2.1.3'];
/** rlPhyTestType: the index says what is measured of the optics of a port; °C, µV, µA, thousandths of dBm. */
const PHY_TESTS: Record<number, readonly [kind: SensorKind, name: string, factor: number]> = {
  5: ['temperature', 'temperature', 1],
  6: ['voltage', 'supply voltage', 1e-6],
  7: ['current', 'bias current', 1e-6],
  8: ['signal-power', 'transmit power', 1e-3],
  9: ['signal-power', 'receive power', 1e-3],
};

/** Optics of switches that are built on Marvell's RADLAN (RADLAN-PHY-MIB): its makers sell under many names. */
export const radlanOptics: Standard = {
  columns: PHY_TEST_TABLES,
  decode: (values, names) =>
    PHY_TEST_TABLES.flatMap((column) =>
      [...values.column(column).keys()].flatMap((index): SensorReading[] => {
        const [port = '', test] = index.split('.');
        const known = PHY_TESTS[Number(test)];
        const raw = values.number(column, index);
        if (!known || raw === undefined || raw === 0) return [];
        const [kind, what, factor] = known;
        const value = rounded(raw * factor);
        if (isMarker(kind, raw) || !canBe(kind, value)) return [];
        const name = `${names.port(port) ?? `Port ${port}`} ${what}`;
        return [{ key: `${column}.${index}`, kind, name, component: 'optics', ifIndex: Number(port), value }];
      }),
    ),
};
