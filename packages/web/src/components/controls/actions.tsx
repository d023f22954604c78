import { ActionIcon, Button, type ButtonProps, Menu, type PolymorphicComponentProps } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import type { ReactElement } from 'react';
import type { Icon } from '../show/index.ts';

/** Something that can be done, as an entry of a menu. */
export interface MenuAction {
  label: string;
  icon: Icon;
  run: () => void;
  /** Takes something away for good. */
  danger?: boolean;
  disabled?: boolean;
}

function ActionMenu({ actions, target }: { actions: readonly MenuAction[]; target: ReactElement }) {
  if (actions.length === 0) return null;
  return (
    <Menu>
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown>
        {actions.map(({ label, icon: Icon, run, danger = false, disabled = false }) => (
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
export const RowMenu = ({ name, actions }: { name: string; actions: readonly MenuAction[] }) => (
  <ActionMenu
    actions={actions}
    target={
      <ActionIcon variant="subtle" color="gray" size="sm" aria-label={`What to do with ${name}`}>
        <IconDots size={15} />
      </ActionIcon>
    }
  />
);

/** What is done seldom, behind one button. */
export const MoreMenu = ({ actions }: { actions: readonly MenuAction[] }) => (
  <ActionMenu actions={actions} target={<IconButton icon={IconDots}>More</IconButton>} />
);

/** A button with an icon; `variant="filled"` for the one thing that a page is mostly opened for. */
export function IconButton({
  icon: Icon,
  ...props
}: PolymorphicComponentProps<'button', ButtonProps> & { icon: Icon }) {
  return <Button variant="default" leftSection={<Icon size={14} aria-hidden />} {...props} />;
}
