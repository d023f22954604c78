import { ActionIcon, Button, type ButtonProps, Menu, type PolymorphicComponentProps } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import type { ReactElement } from 'react';
import type { Icon } from './mark.tsx';

/** Something that can be done, as an entry of a menu. */
export interface Act {
  label: string;
  icon: Icon;
  run: () => void;
  /** Takes something away for good. */
  danger?: boolean;
  disabled?: boolean;
}

function ActMenu({ acts, target }: { acts: readonly Act[]; target: ReactElement }) {
  if (acts.length === 0) return null;
  return (
    <Menu>
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown>
        {acts.map(({ label, icon: Icon, run, danger = false, disabled = false }) => (
          <Menu.Item
            key={label}
            leftSection={<Icon size={15} />}
            onClick={run}
            disabled={disabled}
            {...(danger && { color: 'var(--bad)' })}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** What can be done with one row of a table. */
export const RowMenu = ({ name, acts }: { name: string; acts: readonly Act[] }) => (
  <ActMenu
    acts={acts}
    target={
      <ActionIcon variant="subtle" color="gray" size="sm" aria-label={`What to do with ${name}`}>
        <IconDots size={15} />
      </ActionIcon>
    }
  />
);

/** What is done seldom, behind one button. */
export const MoreMenu = ({ acts }: { acts: readonly Act[] }) => (
  <ActMenu acts={acts} target={<ActButton icon={IconDots}>More</ActButton>} />
);

/** A button with an icon; `variant="filled"` for the one thing that a page is mostly opened for. */
export function ActButton({
  icon: Icon,
  ...props
}: PolymorphicComponentProps<'button', ButtonProps> & { icon: Icon }) {
  return <Button variant="default" leftSection={<Icon size={14} aria-hidden />} {...props} />;
}
