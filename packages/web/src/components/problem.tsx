import { Button, Group, Stack, Text } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { ApiError } from '../api.ts';

/** What went wrong, in the server's own words, and the way to try again. */
export function ProblemView({ error, retry }: { error: unknown; retry?: () => void }) {
  const problem = error instanceof ApiError ? error : undefined;
  return (
    <Stack align="center" py="xl" gap="xs" role="alert">
      <IconPlugConnectedX size={28} color="var(--ink-2)" aria-hidden />
      <Text fw={600}>{problem?.message ?? 'This part of the page failed.'}</Text>
      {problem?.requestId && (
        <Text size="xs" className="quiet">
          request <span className="mono">{problem.requestId}</span>
        </Text>
      )}
      {retry && (
        <Button variant="default" onClick={retry}>
          Try again
        </Button>
      )}
    </Stack>
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
    <Stack align="center" py="xl" gap={6}>
      <Text fw={600}>{title}</Text>
      {children && (
        <Text size="sm" className="quiet" ta="center" maw={460}>
          {children}
        </Text>
      )}
      {action && <Group mt="xs">{action}</Group>}
    </Stack>
  );
}
