/** Credentials of SNMP agents: written, never read back. */
import { z } from 'zod';
import { AUTH_PROTOCOLS, PRIV_PROTOCOLS } from '../model.ts';
import type { Operation } from './operation.ts';
import { id, line, paging, resource, siteFilter, unixSeconds } from './operation.ts';

export { AUTH_PROTOCOLS, PRIV_PROTOCOLS };

const authProtocol = z.enum(AUTH_PROTOCOLS).meta({ id: 'AuthProtocol' });
const privProtocol = z
  .enum(PRIV_PROTOCOLS)
  .meta({ id: 'PrivProtocol', description: '`aes192r`, `aes256r`: keys localised as Cisco does (Reeder).' });

const credentialName = line(100).meta({ example: 'read-only' });
const position = z
  .int()
  .min(0)
  .max(100_000)
  .meta({ description: 'Tried in this order, lowest first.', example: 100 });
const credentialSites = z.array(z.uuid().toLowerCase()).max(1000);
const community = z.string().min(1).max(255).meta({ writeOnly: true, example: 'public' });
const snmpUser = z.string().min(1).max(32).meta({ example: 'monitor' });
/** RFC 3414 section 11.2: pass phrases have eight characters or more. */
const passPhrase = z.string().min(8).max(255).meta({ writeOnly: true, example: 'correct horse' });
const contextName = z.string().max(255).meta({ example: '' });

export const credential = z
  .strictObject({
    id,
    name: z.string().meta({ example: 'read-only' }),
    version: z.enum(['v1', 'v2c', 'v3']).meta({ id: 'SnmpVersion' }),
    user: z.string().nullable().meta({ description: 'SNMPv3 only.', example: null }),
    authProtocol: authProtocol.nullable().meta({ example: null }),
    privProtocol: privProtocol.nullable().meta({ example: null }),
    contextName: z.string().nullable().meta({ example: null }),
    secret: z.literal('set').meta({ description: 'Secrets are written, never read.' }),
    fingerprint: z.string().meta({
      description: 'Equal for equal secrets of this installation; tells nothing else.',
      example: '9f86d081',
    }),
    position,
    allSites: z.boolean(),
    siteIds: z.array(id).meta({ description: 'The sites it is used at, unless all.' }),
    createdAt: unixSeconds,
    updatedAt: unixSeconds,
  })
  .meta({ id: 'Credential' });
export type Credential = z.infer<typeof credential>;

const newCredential = {
  name: credentialName,
  position: position.default(100),
  allSites: z.boolean().optional().meta({ description: 'Without it: true unless `siteIds` names some.' }),
  siteIds: credentialSites.default([]),
};
export const credentialRequest = z.discriminatedUnion('version', [
  z.strictObject({ ...newCredential, version: z.literal('v1'), community }),
  z.strictObject({ ...newCredential, version: z.literal('v2c'), community }),
  z.strictObject({
    ...newCredential,
    version: z.literal('v3'),
    user: snmpUser,
    authProtocol: authProtocol.default('none'),
    authKey: passPhrase.optional(),
    privProtocol: privProtocol.default('none'),
    privKey: passPhrase.optional(),
    contextName: contextName.default(''),
  }),
]);
export type CredentialRequest = z.infer<typeof credentialRequest>;

const credentialChange = z.strictObject({
  name: credentialName.optional(),
  position: position.optional(),
  allSites: z.boolean().optional(),
  siteIds: credentialSites.optional(),
  community: community.optional(),
  user: snmpUser.optional(),
  authProtocol: authProtocol.optional(),
  authKey: passPhrase.optional(),
  privProtocol: privProtocol.optional(),
  privKey: passPhrase.optional(),
  contextName: contextName.optional(),
});
export type CredentialChange = z.infer<typeof credentialChange>;

const credentials = resource('/api/credentials', 'Credentials', credential);

export const credentialOperations = {
  'credentials.list': credentials.list('viewer', 'List credentials in the order they are tried', {
    description: 'Those usable at a site of the caller; never a secret.',
    query: z.strictObject({ ...paging, site: siteFilter }),
  }),
  'credentials.get': credentials.get('viewer', 'Get a credential'),
  'credentials.create': credentials.create('admin', 'Add a credential', {
    description: 'For all sites only by an administrator who sees every site; else for sites of the caller.',
    body: credentialRequest,
    errors: ['conflict'],
    example: { name: 'read-only', version: 'v2c', community: 'public', allSites: true },
  }),
  'credentials.update': credentials.update('admin', 'Change a credential', {
    description: 'Secrets that are left out stay as they are. The version cannot be changed.',
    body: credentialChange,
    errors: ['conflict'],
    example: { community: 'not-public' },
  }),
  'credentials.delete': credentials.remove('admin', 'Delete a credential'),
} as const satisfies Record<string, Operation>;
