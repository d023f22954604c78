import type { ErrorCode } from '@rollcall/shared/api/operation';

export interface ProblemDetail {
  path: string;
  message: string;
}

/** What the server answered instead of success; `message` is written for people. */
export class ApiError extends Error {
  readonly code: ErrorCode | 'offline';
  readonly status: number;
  readonly requestId: string | undefined;
  readonly details: ProblemDetail[];
  constructor(
    status: number,
    error: { code: ErrorCode | 'offline'; message: string; requestId?: string; details?: ProblemDetail[] },
  ) {
    super(error.message);
    this.name = 'ApiError';
    this.status = status;
    this.code = error.code;
    this.requestId = error.requestId;
    this.details = error.details ?? [];
  }
}
