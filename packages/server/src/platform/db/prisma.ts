/** Prisma over the connections of a driver: one client, whose transactions can run on a connection that is in one already. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Prisma, PrismaClient } from '../../generated/prisma/client.ts';

type Factory = NonNullable<ConstructorParameters<typeof PrismaClient>[0]['adapter']>;
type Adapter = Awaited<ReturnType<Factory['connect']>>;
type AdapterTransaction = Awaited<ReturnType<Adapter['startTransaction']>>;

/** Statements have bounds of their own; the longest that a timer takes. */
const NO_TIMEOUT = { timeout: 2 ** 31 - 1 };

/**
 * @param guarded runs every operation and says as a Problem what its errors mean.
 * @returns the client, and a function that runs `work` in a transaction that somebody else began and will end.
 */
export function openPrisma(factory: Factory, guarded: <T>(work: () => Promise<T>) => Promise<T>) {
  const handover = new AsyncLocalStorage<{ connection?: object | undefined }>();

  const connect = async (): Promise<Adapter> => {
    const adapter = await factory.connect();
    const start = adapter.startTransaction.bind(adapter);
    adapter.startTransaction = async (isolation) => {
      const handed = handover.getStore();
      if (!handed?.connection) return start(isolation);
      const { connection } = handed;
      // Once only: what `work` begins outside of this transaction has a connection of its own.
      handed.connection = undefined;
      return onConnection(adapter, connection);
    };
    return adapter;
  };

  const { provider, adapterName } = factory;
  const prisma = new PrismaClient({ adapter: { provider, adapterName, connect } }).$extends({
    query: { $allOperations: ({ args, query }) => guarded(() => query(args)) },
  }) as unknown as PrismaClient;
  return {
    prisma,
    within: <T>(connection: object, work: (tx: Prisma.TransactionClient) => Promise<T>): Promise<T> =>
      handover.run({ connection }, () => prisma.$transaction(work, NO_TIMEOUT)),
  };
}

/** The adapter's own statements on another connection. Prisma neither commits nor rolls back: its caller does. */
function onConnection(adapter: Adapter, connection: object): AdapterTransaction {
  const done = async () => undefined;
  const own = { client: connection, options: { usePhantomQuery: true }, commit: done, rollback: done };
  return Object.assign(Object.create(adapter), own);
}

/** SQLSTATE behind an error of Prisma. */
export const prismaState = (error: unknown): unknown =>
  error instanceof Prisma.PrismaClientKnownRequestError
    ? (error.meta as { driverAdapterError?: { cause?: { originalCode?: string } } } | undefined)
        ?.driverAdapterError?.cause?.originalCode
    : undefined;
