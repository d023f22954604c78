import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconPlugConnectedX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { ApiError } from '../../api-error.ts';
import classes from './problem.module.css';

/** What went wrong, in the server's own words, and the way to try again. */
export function ProblemView({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const problem = error instanceof ApiError ? error : undefined;
  return (
    <div className={classes.box} role="alert">
      <IconPlugConnectedX size={26} color="var(--ink-2)" aria-hidden />
      <strong>{problem?.message ?? 'This part of the page failed.'}</strong>
      {!problem && <p>{error instanceof Error ? error.message : 'Nothing more is known.'}</p>}
      {problem?.requestId && (
        <p>
          request <span className="mono">{problem.requestId}</span>
        </p>
      )}
      {retry && (
        <div className={classes.action}>
          <Button variant="default" onClick={retry}>
            Try again
          </Button>
        </div>
      )}
    </div>
  );
}

/** Nothing to show: says why, and what to do next. */
export function Empty({
  title,
  children,
  action,
}: {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className={classes.box}>
      <strong>{title}</strong>
      {children && <p>{children}</p>}
      {action && <div className={classes.action}>{action}</div>}
    </div>
  );
}

/** A short notice that something was done. */
export const notify = (message: string): void => {
  notifications.show({ message, color: 'teal', autoClose: 4_000 });
};

/** A notice that something was not done, and why. */
export const notifyProblem = (title: string, error: unknown): void => {
  const details = error instanceof ApiError ? error.details.map((detail) => detail.message) : [];
  notifications.show({
    title,
    message: [error instanceof Error ? error.message : String(error), ...details].join('; '),
    color: 'red',
    autoClose: 10_000,
  });
};
