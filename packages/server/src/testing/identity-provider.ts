/** A provider of identities (OpenID Connect) on loopback: `oidc-provider`, whose pages let in anyone who names an account. */
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

export interface IdentityProvider {
  issuer: string;
  /** What it tells of an account, by its `sub`; others do not exist. */
  accounts: Record<string, Record<string, unknown>>;
  stop(): Promise<void>;
}

export const CLIENT = { id: 'rollcall', secret: 'CANARY-of-the-provider' };

/** @param claimsIn where it tells name and groups: in the ID token, or only where it is asked for them */
export async function startIdentityProvider(
  redirectUri: string,
  { claimsIn = 'userinfo', port = 0 }: { claimsIn?: 'id-token' | 'userinfo'; port?: number } = {},
): Promise<IdentityProvider> {
  const accounts: IdentityProvider['accounts'] = {};
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = quietly(
    () =>
      new Provider(issuer, {
        clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [redirectUri] }],
        claims: { openid: ['sub'], profile: ['preferred_username', 'name', 'groups'], email: ['email'] },
        conformIdTokenClaims: claimsIn === 'userinfo',
        findAccount: (_context, sub) =>
          accounts[sub] && { accountId: sub, claims: () => ({ sub, ...accounts[sub] }) },
        jwks: { keys: [signingKey()] },
        cookies: { keys: ['a key of a test'] },
        ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
      }),
  );
  server.on('request', provider.callback());
  return {
    issuer,
    accounts,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

let key: ReturnType<typeof makeKey> | undefined;
/** One for all providers of a test file: to make it takes longer than a sign-in. */
const signingKey = () => (key ??= makeKey());
function makeKey() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'test' };
}

/** It says on the console that it is meant for development. */
function quietly<T>(work: () => T): T {
  const said = globalThis.console;
  globalThis.console = { ...said, info: () => undefined, warn: () => undefined };
  try {
    return work();
  } finally {
    globalThis.console = said;
  }
}

/** A browser as far as signing in goes: keeps cookies by host and port, follows addresses one by one, fills in forms. */
export class SimpleBrowser {
  readonly cookies = new Map<string, Map<string, string>>();

  async get(
    address: string,
    form?: Record<string, string>,
  ): Promise<{ status: number; location: string | null; text: string }> {
    const url = new URL(address);
    const jar = this.cookies.get(url.host) ?? new Map<string, string>();
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /max-age=0|expires=thu, 01 jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    this.cookies.set(url.host, jar);
    const location = response.headers.get('location');
    return {
      status: response.status,
      location: location === null ? null : new URL(location, url).href,
      text: await response.text(),
    };
  }

  /** From a page of the provider through its forms to the address that leads back to us. */
  async through(address: string, account: string, back: string): Promise<string> {
    let at = address;
    for (let step = 0; step < 12; step += 1) {
      if (at.startsWith(back)) return at;
      const page = await this.get(at);
      if (page.location !== null) {
        at = page.location;
        continue;
      }
      const action = /<form[^>]+action="([^"]+)"/.exec(page.text)?.[1];
      const prompt = /name="prompt" value="(\w+)"/.exec(page.text)?.[1];
      if (action === undefined || prompt === undefined) throw new Error(`no form at ${at}: ${page.text}`);
      const sent = await this.get(new URL(action, at).href, { prompt, login: account, password: 'any' });
      if (sent.location === null) throw new Error(`the form at ${at} leads nowhere: ${sent.text}`);
      at = sent.location;
    }
    throw new Error('the provider leads round in circles');
  }
}
