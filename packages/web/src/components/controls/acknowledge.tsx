import { Button, Menu, Text } from '@mantine/core';
import type { AcknowledgedUntil, Event } from '@rollcall/shared/api/incidents';
import { IconChevronDown, IconEye } from '@tabler/icons-react';
import { useAction } from '../../use-action.ts';

export const UNTIL: Record<AcknowledgedUntil, { label: string; description: string }> = {
  clear: { label: 'Until it clears', description: 'Stays acknowledged until the event closes' },
  worse: {
    label: 'Until it recurs or worsens',
    description: 'Open again when it recurs, or when its device has a more severe event',
  },
};

/** Says that somebody looks after an event: one click until it clears, or the choice beside it. */
export function Acknowledge({ event, small = false }: { event: Event; small?: boolean }) {
  const { run, pending } = useAction('events.acknowledge', {
    failed: 'Not acknowledged',
    touches: ['summary', 'cases', 'devices'],
  });
  const until = (choice: AcknowledgedUntil) =>
    void run({ params: { id: event.id }, body: { until: choice } });
  const look = small ? ({ size: 'compact-xs', variant: 'subtle' } as const) : {};
  return (
    <Button.Group w="auto">
      <Button
        {...look}
        {...(!small && { leftSection: <IconEye size={14} aria-hidden /> })}
        loading={pending}
        onClick={() => until('clear')}
      >
        Acknowledge
      </Button>
      <Menu position="bottom-end" width={270}>
        <Menu.Target>
          <Button {...look} px={6} aria-label="Acknowledge until" disabled={pending}>
            <IconChevronDown size={13} aria-hidden />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {(['clear', 'worse'] as const).map((choice) => (
            <Menu.Item key={choice} onClick={() => until(choice)}>
              {UNTIL[choice].label}
              <Text size="xs" c="dimmed">
                {UNTIL[choice].description}
              </Text>
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </Button.Group>
  );
}
