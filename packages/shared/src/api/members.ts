/** Members that several bodies share. */
import { z } from 'zod';
import { unixSeconds } from './operation.ts';

export const text = (example: string) => z.string().nullable().meta({ example });
export const time = unixSeconds;
export const maybeTime = unixSeconds.nullable();
export const address = z
  .string()
  .meta({ description: 'IPv4 or IPv6 address, canonical text.', example: '10.20.0.1' });
export const mac = z
  .string()
  .nullable()
  .meta({ description: 'Lower-case colon form.', example: '00:1b:21:3c:9d:f8' });
/** 0 or 1 as a number: the document calls it a numeric flag. */
export const flag = z.union([z.literal(0), z.literal(1)]).meta({ example: 1 });
