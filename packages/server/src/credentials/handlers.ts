/** Credentials as people manage them: secrets go in and never come out. */
import { type Credential, type CredentialRequest, credentialRequest } from '@rollcall/shared/api/credentials';
import { uuidv7 } from '@rollcall/shared/uuid';
import { requireScope, scopeOfRequest } from '../platform/access/scope.ts';
import { type Database, orConflict } from '../platform/db/db.ts';
import { Parameters, readPage, scopeOf, unix } from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';
import { type Actor, type Handlers, visibleSites } from '../platform/http/handler.ts';
import { type Keyring, SealBroken } from '../platform/keys/keyring.ts';
import { invalid, notFound, Problem } from '../platform/problem.ts';
import type { Audit } from '../ports.ts';
import { type Sealed, type Secrets, TRIED, vault } from './credentials.ts';

const COLUMNS = `id, name, version, facts->>'user' AS "user", facts->>'authProtocol' AS "authProtocol",
  facts->>'privProtocol' AS "privProtocol", facts->>'contextName' AS "contextName", 'set' AS secret,
  coalesce(facts->>'fingerprint', '') AS fingerprint, position, all_sites AS "allSites", site_ids AS "siteIds",
  ${unix('created_at')} AS "createdAt", ${unix('updated_at')} AS "updatedAt"`;
const VISIBLE = '($1::uuid[] IS NULL OR all_sites OR site_ids && $1)';

/** Why a v3 user's protocols and keys do not fit together. */
function checkUser(user: Extract<CredentialRequest, { version: 'v3' }>): void {
  const { authProtocol, authKey, privProtocol, privKey } = user;
  if (authProtocol !== 'none' && authKey === undefined)
    throw invalid('authKey', 'is needed with this authProtocol');
  if (privProtocol === 'none') return;
  if (authProtocol === 'none')
    throw invalid('privProtocol', 'SNMPv3 knows no privacy without authentication; set authProtocol');
  if (privKey === undefined) throw invalid('privKey', 'is needed with this privProtocol');
}

/** The parts of a credential as they are stored: what is sealed, what stands in the clear. */
function parts(full: CredentialRequest): { secret: Secrets; facts: Record<string, string> } {
  if (full.version !== 'v3') return { secret: { community: full.community }, facts: {} };
  checkUser(full);
  const { user, authProtocol, authKey, privProtocol, privKey, contextName } = full;
  return {
    secret: {
      ...(authProtocol !== 'none' && authKey !== undefined && { authKey }),
      ...(privProtocol !== 'none' && privKey !== undefined && { privKey }),
    },
    facts: { user, authProtocol, privProtocol, contextName },
  };
}

type Ids =
  | 'credentials.list'
  | 'credentials.get'
  | 'credentials.create'
  | 'credentials.update'
  | 'credentials.delete';

interface Deps {
  db: Database;
  audit: Audit;
  keyring: Keyring;
}

export function credentialHandlers({ db, audit, keyring }: Deps): Handlers<Ids> {
  const { open, seal } = vault(keyring);

  const read = async (sql: Sql, actor: Actor, id: string): Promise<Credential> => {
    const [row] = await sql.query<Credential>(
      `SELECT ${COLUMNS} FROM credentials WHERE ${VISIBLE} AND id = $2::uuid`,
      [visibleSites(actor), id],
    );
    if (!row) throw notFound('credential');
    return row;
  };

  /** What is stored; where it cannot be opened any more, changing a part of it makes no sense. */
  const opened = (row: Sealed) => {
    try {
      return open(row);
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error;
      throw new Problem(
        'conflict',
        'its secret cannot be opened any more: delete this credential and add it anew',
        { cause: error },
      );
    }
  };

  const unique = <T>(name: string, work: () => Promise<T>): Promise<T> =>
    orConflict(`there is a credential ${name} already`, work);

  return {
    'credentials.list': async ({ actor, query }) =>
      readPage(db, {
        columns: COLUMNS,
        from: 'credentials',
        key: ['id'],
        where: VISIBLE,
        order: TRIED,
        parameters: new Parameters([scopeOf(actor, query.site)]),
        filters: {},
        query,
      }),

    'credentials.get': async ({ actor, params }) => ({ data: await read(db, actor, params.id) }),

    'credentials.create': async ({ actor, body, address }) => {
      const id = uuidv7();
      const { secret, facts } = parts(body);
      const { sealed, keyId, fingerprint } = seal(id, secret);
      const data = await unique(body.name, () =>
        db.transaction(async (sql) => {
          const scope = await scopeOfRequest(sql, actor, body, 'used at');
          const { name, version, position } = body;
          await sql.prisma.credential.create({
            data: { id, name, version, position, ...scope, sealed, keyId, facts: { ...facts, fingerprint } },
          });
          await audit(sql, {
            actor,
            address,
            action: 'credential.create',
            subject: `credential ${body.name}`,
          });
          return read(sql, actor, id);
        }),
      );
      return { data, headers: { Location: `/api/credentials/${id}` } };
    },

    'credentials.update': async ({ actor, params, body, address }) => {
      const data = await unique(body.name ?? '', () =>
        db.transaction(async (sql) => {
          const before = await read(sql, actor, params.id);
          requireScope(actor, before, 'used at');
          await sql.query('SELECT 1 FROM credentials WHERE id = $1::uuid FOR UPDATE', [params.id]);
          const row = await sql.prisma.credential.findUnique({ where: { id: params.id } });
          if (!row) throw notFound('credential');
          const wanted = {
            allSites: body.allSites ?? (body.siteIds ? undefined : before.allSites),
            siteIds: body.siteIds ?? before.siteIds,
          };
          const scope = await scopeOfRequest(sql, actor, wanted, 'used at');
          const next = parts(changed(before, opened(row), body));
          const { sealed, keyId, fingerprint } = seal(params.id, next.secret);
          const name = body.name ?? before.name;
          await sql.prisma.credential.update({
            where: { id: params.id },
            data: {
              name,
              sealed,
              keyId,
              ...scope,
              updatedAt: new Date(),
              facts: { ...next.facts, fingerprint },
              position: body.position ?? before.position,
            },
          });
          await audit(sql, {
            actor,
            address,
            action: 'credential.update',
            subject: `credential ${name}`,
            detail: { fields: Object.keys(body) },
          });
          return read(sql, actor, params.id);
        }),
      );
      return { data };
    },

    'credentials.delete': async ({ actor, params, address }) => {
      await db.transaction(async (sql) => {
        const before = await read(sql, actor, params.id);
        requireScope(actor, before, 'used at');
        await sql.prisma.credential.deleteMany({ where: { id: params.id } });
        await audit(sql, {
          actor,
          address,
          action: 'credential.delete',
          subject: `credential ${before.name}`,
        });
      });
      return { data: null };
    },
  };
}

type Change = Record<string, unknown>;

/** A credential after a change, checked like a new one: what belongs to another version of SNMP is refused. */
function changed(before: Credential, secret: Secrets, change: Change): CredentialRequest {
  const { name: _name, position: _position, allSites: _all, siteIds: _sites, ...own } = change;
  const { version, user, authProtocol, privProtocol, contextName } = before;
  const result = credentialRequest.safeParse({
    version,
    name: before.name,
    ...(version === 'v3' && { user, authProtocol, privProtocol, contextName }),
    ...secret,
    ...own,
  });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue?.code === 'unrecognized_keys' ? issue.keys.join(', ') : (issue?.path.join('.') ?? '');
  throw invalid(
    path,
    issue?.code === 'unrecognized_keys' ? `does not apply to SNMP ${version}` : (issue?.message ?? ''),
  );
}
