/**
 * A server that showed a certificate of its own authority may change to one that the authorities of this host vouch for.
 * It is the server that was joined only when the authority of the join token signed for the new certificate too: a
 * public authority vouches for a name, and names change hands.
 */
import { createHash, verify, X509Certificate } from 'node:crypto';
import { signedSuccessor } from '@rollcall/shared/signed-texts';
import type { Ending } from './ending.ts';
import { nobodyVouches } from './server-address.ts';

/** Whether the authority `ca` (PEM) signed for the certificate that was shown. */
export function isCrossSigned(
  ca: string,
  shown: X509Certificate | undefined,
  signature: string | undefined,
): boolean {
  if (!shown || !signature) return false;
  const text = signedSuccessor(createHash('sha256').update(shown.raw).digest('hex'));
  return verify(
    'sha256',
    Buffer.from(text),
    new X509Certificate(ca).publicKey,
    Buffer.from(signature, 'base64'),
  );
}

/** Whether a connection ended because another authority than the known one signed what the server showed. */
export const wasAnotherAuthority = (ending: Ending): boolean =>
  ending.by === 'error' && nobodyVouches(ending.error);

export const NOT_PROVEN =
  'the server shows a certificate of another authority, and did not prove that it is the one that was joined: if it is, ' +
  'revoke this collector there, move its state folder away and join anew';
