import { Button, Group, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconPlugConnectedX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { ApiError } from '../../api-error.ts';

/** What went wrong, in the server's own words, and the way to try again where that may help. */
export function ProblemView({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const problem = error instanceof ApiError ? error : undefined;
  const isMissing = problem?.code === 'not_found';
  return (
    <Stack align="center" gap={6} px={24} py={40} ta="center" role="alert">
      <IconPlugConnectedX size={26} color="var(--ink-2)" aria-hidden />
      <strong>{problem ? sentence(problem.message) : 'This part of the page failed.'}</strong>
      {isMissing && <p className="quiet">A link may be old, or what it led to was deleted.</p>}
      {!problem && (
        <p className="quiet">{error instanceof Error ? error.message : 'Nothing more is known.'}</p>
      )}
      {problem?.requestId && (
        <p className="quiet">
          request <span className="mono">{problem.requestId}</span>
        </p>
      )}
      {retry && !isMissing && (
        <Button variant="default" mt={6} onClick={retry}>
          Try again
        </Button>
      )}
    </Stack>
  );
}

const sentence = (message: string): string => message.charAt(0).toUpperCase() + message.slice(1);

interface EmptyProps {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}

/** Nothing to show: says why, and what to do next. */
export function Empty({ title, children, action }: EmptyProps) {
  return (
    <Stack align="center" gap={6} px={24} py={40} ta="center">
      <strong>{title}</strong>
      {children && (
        <Text size="sm" c="dimmed" maw={460}>
          {children}
        </Text>
      )}
      {action && <Group mt={6}>{action}</Group>}
    </Stack>
  );
}

const CLOSE = { 'aria-label': 'Close' };

/** A short notice that something was done. */
export const notify = (message: string): void => {
  notifications.show({ message, color: 'teal', autoClose: 4_000, closeButtonProps: CLOSE });
};

/** A notice that something was not done, and why. */
export const notifyProblem = (title: string, error: unknown): void => {
  const details = error instanceof ApiError ? error.details.map((detail) => detail.message) : [];
  notifications.show({
    title,
    message: [error instanceof Error ? error.message : String(error), ...details].join('; '),
    color: 'red',
    autoClose: 10_000,
    closeButtonProps: CLOSE,
  });
};
