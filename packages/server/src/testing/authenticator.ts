import { Secret, TOTP } from 'otpauth';

/** The code that an authenticator app with this secret (base32) shows at a time, Unix milliseconds. */
export const codeAt = (secret: string, timestamp: number): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });
