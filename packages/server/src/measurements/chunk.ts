/**
 * Many series of a device in one value of the database: a header that says where each is, and the series, compressed one
 * by one, so that reading one port of many costs no more than that port.
 *
 *   4 octets  length of the header (big-endian)
 *   header    JSON: [[id, length], …], in the order of the series
 *   series    raw DEFLATE of JSON: Series
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { GAP_REASONS } from '@rollcall/shared/api/measurements';
import { z } from 'zod';
import type { Series } from './series.ts';

/** Series by the id of their interface; the device's own under the empty id. */
export type SeriesById = Map<string, Series>;
export const OF_DEVICE = '';

const header = z.array(z.tuple([z.string(), z.int().min(0)]));
const column = z.array(z.number().nullable());
const series = z.object({
  end: z.array(z.number()),
  over: z.array(z.number()),
  columns: z.record(z.string(), column),
  gaps: z
    .array(
      z.object({ begins: z.number(), ends: z.number(), reason: z.enum(GAP_REASONS).catch('not-received') }),
    )
    .optional(),
});

export function packChunk(all: SeriesById): Buffer {
  const packed = [...all].map(([id, one]) => [id, deflateRawSync(JSON.stringify(one))] as const);
  const head = Buffer.from(JSON.stringify(packed.map(([id, { length }]) => [id, length])));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, ...packed.map(([, bytes]) => bytes)]);
}

/** @param wanted ids of series to read; all when absent */
export function unpackChunk(chunk: Uint8Array, wanted?: ReadonlySet<string>): SeriesById {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  const start = 4 + bytes.readUInt32BE(0);
  const all: SeriesById = new Map();
  let at = start;
  for (const [id, length] of header.parse(JSON.parse(bytes.toString('utf8', 4, start)))) {
    if (wanted === undefined || wanted.has(id))
      all.set(id, series.parse(JSON.parse(inflateRawSync(bytes.subarray(at, at + length)).toString())));
    at += length;
  }
  return all;
}
