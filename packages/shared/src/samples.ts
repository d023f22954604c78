/** What a collector measures of a monitored device in one interval. `docs/metrics.md` explains it. */
import { z } from 'zod';
import { SAMPLE_SENSORS, sensorReading } from './sensors.ts';
import { each, orElse } from './wire.ts';

/** Counters of an interface (IF-MIB, RFC 2863), 64-bit where the agent has them. */
export const PORT_COUNTERS = [
  'inOctets',
  'outOctets',
  'inUnicast',
  'outUnicast',
  'inNonUnicast',
  'outNonUnicast',
  'inErrors',
  'outErrors',
  'inDiscards',
  'outDiscards',
] as const;
export type PortCounter = (typeof PORT_COUNTERS)[number];

/** Lower speeds stand for none: tunnels say 9 kb/s or 100 kb/s whatever they carry. */
export const LEAST_SPEED_BPS = 1e6;
/** Most interfaces of one `samples` observation; a device with more is several. */
export const SAMPLE_PORTS = 500;

/** Why the growth of all counters of a reading is not known, although the agent answers. */
export const READING_GAPS = ['first-reading', 'restarted', 'missed'] as const;
/** Why that of one interface is not known. */
export const PORT_GAPS = ['first-reading', 'renamed', 'counters-reset', 'over-speed', 'ambiguous'] as const;
export type PortGap = (typeof PORT_GAPS)[number];

/** How much each counter grew within the interval, one number per interface; null where that cannot be known. */
const growth = z.array(z.int().min(0).nullable()).max(SAMPLE_PORTS).optional();

/**
 * Measurements of one interval of a device, in columns: `ports.inOctets[i]` belongs to `ports.ifIndex[i]`. A column
 * that the agent does not have is absent.
 */
export const samples = z.object({
  kind: z.literal('samples'),
  /** End of the interval, Unix milliseconds by the collector's clock. */
  at: z.int().min(0),
  deviceId: z.uuid(),
  /** Length of the interval, milliseconds. */
  overMs: z.int().min(1).max(86_400_000),
  /** Pings sent within it; round trips in milliseconds, absent where none was answered. */
  ping: z
    .object({
      sent: z.int().min(0),
      lost: z.int().min(0),
      minMs: z.number().min(0).optional(),
      avgMs: z.number().min(0).optional(),
      maxMs: z.number().min(0).optional(),
    })
    .optional(),
  ports: z
    .object({
      ifIndex: z.array(z.int()).max(SAMPLE_PORTS),
      /** ifName, else ifDescr: an interface keeps its history when its ifIndex moves. */
      name: z.array(z.string().max(255)).max(SAMPLE_PORTS),
      ...(Object.fromEntries(PORT_COUNTERS.map((counter) => [counter, growth])) as Record<
        PortCounter,
        typeof growth
      >),
      /** Why some of its growth is null; absent where all is known. */
      gap: z
        .array(orElse(z.enum(PORT_GAPS), 'ambiguous').nullable())
        .max(SAMPLE_PORTS)
        .optional(),
    })
    .optional(),
  /** Sensors of the device, in those intervals in which they are read. */
  sensors: each(z.array(sensorReading).max(SAMPLE_SENSORS)).optional(),
  /** Only with the last part of a reading of sensors: whether it saw all. False: a sensor missing says nothing. */
  sensorsComplete: z.boolean().optional(),
  /** Why no growth is known although the agent answers. */
  gap: z.enum(READING_GAPS).optional(),
  /** How much longer than asked the interval is because the agent takes long to answer, milliseconds. */
  lagMs: z.int().min(1).optional(),
});
export type Samples = z.infer<typeof samples>;
