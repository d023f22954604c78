/** Signatures of the Standard Webhooks specification, version 1. Pure but for new secrets. */
import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
const BYTES = 32;

/** A new secret: `whsec_` and 32 random bytes, base64. */
export const newSecret = (): string => PREFIX + randomBytes(BYTES).toString('base64');

/** What is signed: one message at one moment. */
export interface Signed {
  id: string;
  /** Unix seconds. */
  timestamp: number;
  body: string;
}

/** The value of `webhook-signature`: one `v1,` signature for each secret, separated by spaces, the newest first. */
export const signatures = (secrets: readonly string[], { id, timestamp, body }: Signed): string =>
  secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
    })
    .join(' ');
