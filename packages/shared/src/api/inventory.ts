import type { Operation } from './operation.ts';

export const inventoryOperations = {} as const satisfies Record<string, Operation>;
