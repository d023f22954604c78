import type { Prisma, PrismaClient } from '../../generated/prisma/client.ts';

export interface Sql {
  /**
   * Runs one statement with `$1` parameters. int8 arrives as number, timestamptz as Date, inet/uuid/numeric as text,
   * json parsed, arrays as arrays. JSON goes in as text with `$n::jsonb`. `kept`: the connection keeps it parsed, and
   * from the sixth time on planned; only for texts that come again and again and whose best plan is always the same.
   */
  query<R extends object = Record<string, unknown>>(
    text: string,
    params?: readonly unknown[],
    kept?: 'kept',
  ): Promise<R[]>;
}

/** A transaction: statements, and Prisma for single rows and small lists, on the same connection. */
export interface Transaction extends Sql {
  readonly prisma: Prisma.TransactionClient;
}

/** What a driver must do; the rest is the same for both. */
export interface Driver {
  readonly kind: 'postgresql' | 'pglite';
  readonly adapter: NonNullable<ConstructorParameters<typeof PrismaClient>[0]['adapter']>;
  readonly main: DriverPool;
  readonly ingest: DriverPool;
  script(text: string): Promise<void>;
  exclusively<T>(key: number, work: () => Promise<T>, waitMs?: number): Promise<T>;
  listen(channel: string, onMessage: (payload: string) => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}
export interface DriverPool extends Sql {
  /** BEGIN, work, COMMIT or ROLLBACK; no retry. `connection` is what Prisma's adapter asks. */
  once<T>(work: (sql: Sql, connection: object) => Promise<T>): Promise<T>;
}
