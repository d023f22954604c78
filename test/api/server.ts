/** The REST side of the server on a database of a test: every operation whose feature is there. */
import { accountHandlers } from '@rollcall/server/accounts/accounts';
import { openAuthenticator } from '@rollcall/server/kernel/auth';
import type { Database } from '@rollcall/server/kernel/db';
import type { Handlers } from '@rollcall/server/kernel/handler';
import { restApp } from '@rollcall/server/kernel/http';
import { listen } from '@rollcall/server/kernel/listener';
import { openLog } from '@rollcall/server/kernel/log';
import { openMetrics } from '@rollcall/server/kernel/metrics';
import { serviceHandlers } from '@rollcall/server/service/service';
import { operations } from '@rollcall/shared/api/index';
import type { Operation } from '@rollcall/shared/api/operation';
import { systemClock } from '@rollcall/shared/clock';

export interface ApiServer {
  url: string;
  operations: Record<string, Operation>;
  /** Lines of warnings and errors. */
  trouble: string[];
  stop(): Promise<void>;
}

export async function startApi(db: Database): Promise<ApiServer> {
  const trouble: string[] = [];
  const destination = { write: (line: string) => void trouble.push(line) };
  const log = openLog({ logLevel: 'warn' }, { destination, terminal: false });
  const clock = systemClock;
  const auth = await openAuthenticator({ db, clock, log });
  const handlers: Partial<Handlers> = {
    ...accountHandlers({ db, clock, forget: auth.forget }),
    ...serviceHandlers({ db, clock, metrics: openMetrics(), accepting: () => true }),
  };
  const table: Record<string, Operation> = Object.fromEntries(
    Object.entries(operations).filter(([id]) => id in handlers),
  );
  const app = restApp({ operations: table, handlers, auth, log, checkResponses: true });
  const listener = await listen(
    app,
    { host: '127.0.0.1', port: 0, tls: undefined, connections: 100 },
    { log, clock },
  );
  return {
    url: listener.url,
    operations: table,
    trouble,
    stop: async () => {
      await listener.stop(1_000);
      await auth.close();
    },
  };
}
