/** Credentials: what people manage, and what jobs and monitoring are given of it. */
import type { Logger } from 'pino';
import type { Database } from '../platform/db/db.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import type { Audit } from '../ports.ts';
import { createCredentials } from './credentials.ts';
import { credentialHandlers } from './handlers.ts';

export const createCredentialFeature = (deps: {
  db: Database;
  log: Logger;
  audit: Audit;
  keyring: Keyring;
}) => ({ ...createCredentials(deps), handlers: credentialHandlers(deps) });
