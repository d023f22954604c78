/**
 * A PostgreSQL with standbys: its URL names several hosts, as libpq has it (`postgres://user@one,two:5433/database`). Every
 * connection goes to the one that takes writes at that time, so that a standby that was promoted is found without a restart.
 */
import pg from 'pg';
import { StartError } from '../ops/config.ts';

interface Host {
  host: string;
  port: number;
}

/** A host that was asked whether it takes writes must answer within this time. */
const ASK_MS = 2_000;
const PORT = 5432;
/** An idle connection whose other side is gone ends by itself: asked after this time, then ten times, a second apart (Node). */
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 3_000 };
const URL_PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/;
/** What libpq may be told; the server always writes. */
const WRITABLE = /[?&]target_session_attrs=(?:any|read-write|primary|prefer-standby)(?=&|$)/;

/** The hosts of a URL, and the URL with the first of them alone, which the driver understands. Pure. */
export function hostsOf(url: string): { first: string; hosts: Host[] } {
  const [, before = '', names = '', behind = ''] = URL_PARTS.exec(url) ?? [];
  if (!names.includes(',')) return { first: url, hosts: [] };
  const hosts = names.split(',').map((name) => {
    const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]*))(?::(\d+))?$/.exec(name) ?? [];
    const host = bracketed ?? plain;
    if (!host) throw new StartError(`DATABASE_URL: "${name}" is no host: HOST:PORT,HOST:PORT`);
    return { host, port: Number(port ?? PORT) };
  });
  const without = behind.replace(WRITABLE, (found) => (found.startsWith('?') ? '?' : '')).replace('?&', '?');
  return { first: `${before}${names.split(',')[0]}${without.replace(/\?$/, '')}`, hosts };
}

export interface Connections {
  /** The class of a URL's connections; what it is made with needs no host. */
  Client: typeof pg.Client;
  /** Ends all that there are at once, as if the other side had: whatever waits for an answer fails with `reason`. */
  drop(reason: string): void;
}

/** The connections of a URL. Those to a host that takes writes no more end when another does. */
export function connectionsOf(url: string): Connections {
  const { first, hosts } = hostsOf(url);
  const live = new Set<pg.Client>();
  const dropped = (reason: string, which: (client: pg.Client) => boolean) => {
    for (const client of [...live].filter(which)) {
      live.delete(client);
      client.connection.stream.destroy(new Error(`Connection terminated: ${reason}`));
    }
  };
  const writable = new Writable(first, hosts, ({ host, port }) =>
    dropped('another host takes writes now', (client) => client.host !== host || client.port !== port),
  );
  const Client = class extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      super({ ...(config as pg.ClientConfig), ...KEEP_ALIVE, connectionString: first });
    }

    override connect(): Promise<this>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<this> | undefined {
      const connected = this.#connect();
      if (!callback) return connected;
      connected.then(() => (callback as (error: Error | null) => void)(null), callback);
      return undefined;
    }

    async #connect(): Promise<this> {
      if (hosts.length === 0) {
        await super.connect();
        return this.#lives();
      }
      const host = await writable.host();
      Object.assign(this, host);
      try {
        await super.connect();
        this.#lives();
        await refuseReadOnly(this);
        return this;
      } catch (error) {
        writable.doubt(host);
        await this.end().catch(() => undefined);
        throw error;
      }
    }

    #lives(): this {
      live.add(this);
      this.once('end', () => live.delete(this));
      return this;
    }
  };
  const drop = (reason: string) => {
    writable.doubt();
    dropped(reason, () => true);
  };
  return { Client, drop };
}

/** The host that took writes last, asked for anew once a connection to it failed. */
class Writable {
  readonly #url: string;
  readonly #hosts: readonly Host[];
  readonly #found: (host: Host) => void;
  #current: Host | undefined;
  #asking: Promise<Host> | undefined;

  /** @param found is told of the host that takes writes whenever one was asked for */
  constructor(url: string, hosts: readonly Host[], found: (host: Host) => void) {
    this.#url = url;
    this.#hosts = hosts;
    this.#found = found;
  }

  async host(): Promise<Host> {
    if (this.#current) return this.#current;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    const host = await this.#asking;
    if (this.#current !== host) this.#found(host);
    this.#current = host;
    return host;
  }

  /** Of `host`, or whichever it is: it is asked for anew. */
  doubt(host?: Host): void {
    if (host === undefined || this.#current === host) this.#current = undefined;
  }

  /** All at once: one that is gone without a word costs no time. */
  async #ask(): Promise<Host> {
    try {
      return await Promise.any(this.#hosts.map((host) => this.#takesWrites(host)));
    } catch (error) {
      const errors = (error as AggregateError).errors as (Error & { code?: string })[];
      // A wrong password is more to the point than a host that is away.
      throw errors.find(({ code }) => code?.startsWith('28') || code === '3D000') ?? errors.at(-1) ?? error;
    }
  }

  async #takesWrites(host: Host): Promise<Host> {
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: ASK_MS,
      query_timeout: ASK_MS,
      application_name: 'rollcall who takes writes',
    });
    Object.assign(client, host);
    client.on('error', () => undefined);
    try {
      await client.connect();
      await refuseReadOnly(client);
      return host;
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

/** Says of a standby what PostgreSQL says of one that is starting: come again. */
async function refuseReadOnly(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::bool AS read_only`,
  );
  if (rows[0]?.read_only)
    throw Object.assign(new Error(`${client.host}:${client.port} takes no writes`), { code: '57P03' });
}
