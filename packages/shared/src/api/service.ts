import type { Operation } from './operation.ts';

export const serviceOperations = {} as const satisfies Record<string, Operation>;
