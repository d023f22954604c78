/** Personal API tokens. */
import { z } from 'zod';
import { siteIds } from './accounts.ts';
import type { Operation } from './operation.ts';
import { id, line, PAGE_SIZE_MOST, paging, resource, unixSeconds } from './operation.ts';

/** Live tokens of one account. */
export const TOKENS_MOST = 50;
/** A revoked token stays in its owner's list this long. */
export const REVOKED_SHOWN_DAYS = 30;

/** Networks that one token may be limited to. */
const NETWORKS_MOST = 20;
const networks = z
  .array(z.string().trim().max(50))
  .max(NETWORKS_MOST)
  .meta({
    description:
      'Addresses and CIDRs that it is accepted from, as the server sees them; from any other the answer is 403 and names the address. None: from everywhere.',
    example: ['192.0.2.0/24'],
  });

export const token = z
  .strictObject({
    id,
    name: z.string().meta({ example: 'report script' }),
    hint: z.string().meta({ description: 'Last four characters.', example: 'x7Qz' }),
    createdAt: unixSeconds,
    lastUsedAt: unixSeconds.nullable(),
    expiresAt: unixSeconds.nullable().meta({ description: 'null: never.' }),
    readOnly: z.boolean().meta({ description: 'It reads what a viewer may, and nothing of the account.' }),
    siteIds: siteIds.meta({
      description: 'Of the sites of its owner those that it sees; none: all of them.',
    }),
    networks,
    revokedAt: unixSeconds.nullable(),
  })
  .meta({ id: 'ApiToken' });
export type Token = z.infer<typeof token>;

/** Who names no page gets all: the customer's document names no parameter here, and pages lists all the same. */
const tokenQuery = z.strictObject({
  page: paging.page,
  pageSize: paging.pageSize
    .unwrap()
    .default(PAGE_SIZE_MOST)
    .meta({ description: 'Items per page.', example: 25 }),
});

const tokens = resource('/api/tokens', 'API tokens', token);

export const tokenOperations = {
  'tokens.list': tokens.list('viewer', "List the caller's tokens", {
    description:
      'Metadata only, never the secret. A revoked token stays in the list for 30 days. All are on one page unless `pageSize` says otherwise.',
    stable: true,
    query: tokenQuery,
  }),
  'tokens.create': tokens.create('viewer', 'Create a token', {
    description: `The plaintext stands in \`token\`, this once. At most ${TOKENS_MOST} live tokens per account. May also be called from a signed-in session, without a bearer header.`,
    stable: true,
    body: z
      .strictObject({
        name: line(100).meta({ example: 'report script' }),
        expiresAt: unixSeconds
          .min(0)
          .max(253_402_300_799)
          .nullable()
          .default(null)
          .meta({ description: 'Unix seconds; null: never expires.', example: null }),
        readOnly: z.boolean().default(false).meta({
          description:
            'It reads what a viewer may, changes nothing, and sees neither tokens nor sessions: for a screen on a wall.',
        }),
        siteIds: siteIds.default([]).meta({
          description:
            'Of a token that is readOnly: it sees these sites of yours only; none named: all that you see.',
        }),
        networks: networks.default([]),
      })
      .refine(({ readOnly, siteIds }) => readOnly || siteIds.length === 0, {
        path: ['siteIds'],
        message: 'only a token that is readOnly is limited to sites',
      }),
    extra: z.strictObject({
      token: z.string().meta({
        description: 'The plaintext, shown once.',
        example: 'svc_EXAMPLEexampleEXAMPLEexampleEXAMPLE0000',
      }),
    }),
    errors: ['conflict'],
    example: { name: 'report script' },
  }),
  'tokens.delete': tokens.remove('viewer', 'Revoke a token', {
    description: "The caller's own token stops working at once. Revoking it again changes nothing.",
    stable: true,
    data: token,
  }),
} as const satisfies Record<string, Operation>;
