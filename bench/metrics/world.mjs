// Devices whose ports are measured every minute: traffic with a course of the day and chance, packets after it, few errors.
import { PORT_COUNTERS } from '@rollcall/shared/samples';
import { uuidv7 } from '@rollcall/shared/uuid';

export const MINUTE = 60_000;
/** Ports of a device. */
export const PORTS = 24;
/** Devices of a site. */
const SITE = 1_000;
const SPEED = 1_000_000_000;

/** The same number between 0 and 1 for the same port and time (xmur3 and mulberry32, in one step). */
function chance(port, time) {
  let t = Math.imul(port ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(time, 0xc2b2ae35);
  t = Math.imul(t ^ (t >>> 15), 1 | t);
  t ^= t + Math.imul(t ^ (t >>> 7), 61 | t);
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
}

/** So many devices with their ports, in the database. */
export async function makeWorld(db, count) {
  const devices = [];
  for (let first = 0; first < count; first += SITE) {
    const siteId = uuidv7();
    await db.query(
      `INSERT INTO sites (id, name, networks, exclude) VALUES ($1::uuid, $1::text, '{}', '{}')`,
      [siteId],
    );
    const some = Array.from({ length: Math.min(SITE, count - first) }, (_, i) => ({
      ...{ siteId, id: uuidv7(), number: first + i },
      ports: Array.from({ length: PORTS }, () => uuidv7()),
    }));
    await db.query(
      `INSERT INTO devices (site_id, id, name, class, monitor, status, first_seen)
       SELECT $1::uuid, id, 'sw-' || n, 'switch', true, 'up', now() FROM unnest($2::uuid[]) WITH ORDINALITY AS r(id, n)`,
      [siteId, some.map(({ id }) => id)],
    );
    const ports = some.flatMap(({ id, ports }) =>
      ports.map((port, i) => ({ id: port, deviceId: id, ifIndex: i + 1 })),
    );
    await db.query(
      `INSERT INTO interfaces (site_id, id, device_id, if_index, name, speed_bps, oper_status, first_seen, last_seen)
       SELECT $1::uuid, r.id, r."deviceId", r."ifIndex", 'Gi' || r."ifIndex", ${SPEED}, 1, now(), now()
       FROM jsonb_to_recordset($2::jsonb) AS r(id uuid, "deviceId" uuid, "ifIndex" int)`,
      [siteId, JSON.stringify(ports)],
    );
    devices.push(...some);
  }
  for (const table of ['devices', 'interfaces']) await db.query(`ANALYZE ${table}`);
  return devices;
}

/** What a collector tells of an interval of a device that ends at `at`. */
export function observe({ id, number }, at, { ports = PORTS, overMs = MINUTE } = {}) {
  const time = Math.round(at / MINUTE);
  const columns = Object.fromEntries(PORT_COUNTERS.map((counter) => [counter, []]));
  const day = 1 + Math.sin(((at % 86_400_000) / 86_400_000) * 2 * Math.PI);
  for (let port = 0; port < ports; port++) {
    const one = number * PORTS + port;
    for (const [direction, salt] of [
      ['in', 1],
      ['out', 2],
    ]) {
      // A port in four has no link; the others have each its own usual rate.
      const usual = one % 4 === 3 ? 0 : 10 ** (3 + 4 * chance(one, salt));
      const octets = Math.floor((usual * day * (0.5 + chance(one * 3 + salt, time)) * overMs) / 1000);
      const packets = Math.floor(octets / 700);
      const errors = chance(one * 5 + salt, time) < 0.001 ? 3 : 0;
      columns[`${direction}Octets`].push(octets);
      columns[`${direction}Unicast`].push(packets);
      columns[`${direction}NonUnicast`].push(Math.floor(packets / 50));
      columns[`${direction}Errors`].push(errors);
      columns[`${direction}Discards`].push(0);
    }
  }
  const avgMs = 1 + Math.round(chance(number, time) * 1000) / 1000;
  return {
    ...{ kind: 'samples', at, deviceId: id, overMs },
    ping: { sent: 4, lost: 0, minMs: avgMs / 2, avgMs, maxMs: avgMs * 2 },
    ports: {
      ifIndex: Array.from({ length: ports }, (_, i) => i + 1),
      name: Array.from({ length: ports }, (_, i) => `Gi${i + 1}`),
      ...columns,
    },
  };
}

/** The same as a row that waits for an engine. */
export function rowOf(
  { siteId, ports },
  { at, deviceId, overMs, ping, ports: { ifIndex, name, ...columns } },
) {
  const id = ports.slice(0, ifIndex.length);
  const data = { ping, ports: { id, speedBps: id.map(() => SPEED), ...columns } };
  return { siteId, deviceId, at: new Date(at), part: 1, overMs, data };
}
