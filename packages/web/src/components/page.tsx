import { Group, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import classes from './page.module.css';

/** A page's frame: title with a count, actions at the right, filters under it, and the body that fills the rest. */
export function Page({
  title,
  count,
  actions,
  filters,
  fill = false,
  children,
}: {
  title: string;
  count?: number | undefined;
  actions?: ReactNode;
  filters?: ReactNode;
  /** The body takes the rest of the window and scrolls inside. */
  fill?: boolean;
  children: ReactNode;
}) {
  useDocumentTitle(`${title} · Rollcall`);
  return (
    <div className={fill ? classes.fill : undefined}>
      <Group justify="space-between" mb="sm" gap="sm">
        <Group gap={8} align="baseline">
          <Title order={1}>{title}</Title>
          {count !== undefined && (
            <Text size="sm" className="quiet">
              {count.toLocaleString('en')}
            </Text>
          )}
        </Group>
        <Group gap="xs">{actions}</Group>
      </Group>
      {filters && (
        <Group gap="xs" mb="sm">
          {filters}
        </Group>
      )}
      {fill ? <div className={`panel ${classes.body}`}>{children}</div> : children}
    </div>
  );
}
