import { Button, Menu } from '@mantine/core';
import { IconCheck, IconColumns3 } from '@tabler/icons-react';
import { memo, useCallback, useMemo } from 'react';
import { savePreferences, usePreferences } from '../../preferences.ts';
import type { Column } from './column.ts';

/** The columns of a list that a person chose to see; the first one always. */
export function useColumns<T>(
  list: string,
  all: readonly Column<T>[],
): { shown: Column<T>[]; ids: string[]; choose: (ids: string[]) => void } {
  const { columns } = usePreferences();
  const chosen = columns[list];
  const shown = useMemo(
    () => all.filter((column, i) => i === 0 || (chosen ? chosen.includes(column.id) : !column.extra)),
    [all, chosen],
  );
  const ids = useMemo(() => shown.map((column) => column.id), [shown]);
  const choose = useCallback(
    (next: string[]) => savePreferences({ columns: { ...columns, [list]: next } }),
    [columns, list],
  );
  return { shown, ids, choose };
}

function ColumnsMenuView<T>({
  all,
  ids,
  onChoose,
}: {
  all: readonly Column<T>[];
  ids: readonly string[];
  onChoose: (ids: string[]) => void;
}) {
  return (
    <Menu closeOnItemClick={false}>
      <Menu.Target>
        <Button variant="default" leftSection={<IconColumns3 size={14} aria-hidden />}>
          Columns
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={420} style={{ overflowY: 'auto' }}>
        {all.slice(1).map((column) => {
          const on = ids.includes(column.id);
          return (
            <Menu.CheckboxItem
              key={column.id}
              checked={on}
              checkIcon={<IconCheck size={13} aria-hidden />}
              onChange={() => onChoose(on ? ids.filter((id) => id !== column.id) : [...ids, column.id])}
            >
              {column.title}
            </Menu.CheckboxItem>
          );
        })}
        <Menu.Divider />
        <Menu.Item onClick={() => onChoose(all.filter((column) => !column.extra).map((column) => column.id))}>
          Default columns
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

export const ColumnsMenu = memo(ColumnsMenuView) as typeof ColumnsMenuView;
