/** The kinds of values that settings have: text of the environment or the file, read to what it means. */
import { resolve } from 'node:path';
import { Secret } from '@rollcall/shared/secret';
import { z } from 'zod';

export const whole = (least: number, most: number, otherwise: number) =>
  z
    .string()
    .regex(/^\d{1,10}$/)
    .transform(Number)
    .pipe(z.int().min(least).max(most))
    .default(otherwise)
    .meta({ need: `a whole number from ${least} to ${most}` });
export const file = z
  .string()
  .min(1)
  .transform((path) => resolve(path))
  .meta({ need: 'the path of a file' });
export const list = z
  .string()
  .default('')
  .transform((text) => text.split(/[\s,]+/).filter(Boolean));
export const engine = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol))
  .optional()
  .meta({ need: 'an address such as http://victoria.example.net:8428/api/v1/write', secret: true });
export const yes = (otherwise: 'true' | 'false') =>
  z
    .enum(['true', 'false'])
    .default(otherwise)
    .transform((text) => text === 'true')
    .meta({ need: 'true or false' });

export const secret = (text: string | undefined): Secret | undefined =>
  text === undefined ? undefined : new Secret(text);
