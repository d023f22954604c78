import type { Operation } from './operation.ts';

export const accountOperations = {} as const satisfies Record<string, Operation>;
