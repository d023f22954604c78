import { Switch } from '@mantine/core';
import type { OperationId } from '@rollcall/shared/api/index';
import type { ReactNode } from 'react';
import type { Request } from '../../api.ts';
import { useAction } from '../../use-action.ts';
import { type MenuAction, RowMenu } from '../controls/index.ts';
import { Time } from '../show/index.ts';
import type { Column, Look } from './column.ts';

type Given<T> = Pick<Column<T>, 'title' | 'cell'> & Partial<Look> & { id: string };

/** A point in time, Unix seconds; in a file as ISO 8601. */
export const timeColumn = <T,>({
  at,
  fallback,
  ...column
}: Given<T> & { at: (item: T) => number | null | undefined; fallback?: string }): Column<T> => ({
  width: '90px',
  value: (item) => {
    const seconds = at(item);
    return seconds === null || seconds === undefined ? '' : new Date(seconds * 1000).toISOString();
  },
  cell: (item) => <Time at={at(item)} {...(fallback !== undefined && { fallback })} />,
  ...column,
});

/** What can be done with the row, drawn at its end. */
export const actionColumn = <T,>(width: string, cell: (item: T) => ReactNode): Column<T> => ({
  id: 'do',
  title: 'Actions',
  untitled: true,
  width,
  narrow: true,
  value: () => '',
  cell,
});

export const menuColumn = <T extends { id: string; name: string }>(
  actions: (item: T) => readonly MenuAction[],
): Column<T> =>
  actionColumn('28px', (item) => <RowMenu key={item.id} name={item.name} actions={actions(item)} />);

interface Switched {
  id: string;
  name: string;
  enabled: boolean;
}

/** On or off, switched by those who may. */
export const enabledColumn = <T extends Switched>(
  id: 'maintenance.update' | 'schedules.update' | 'subscriptions.update',
  may: boolean,
  ...touches: string[]
): Column<T> => ({
  id: 'enabled',
  title: 'On',
  width: '44px',
  narrow: true,
  value: (item) => (item.enabled ? 'on' : 'off'),
  ...(may && { cell: (item) => <Enabled key={item.id} item={item} id={id} touches={touches} /> }),
});

function Enabled({ item, id, touches }: { item: Switched; id: OperationId; touches: string[] }) {
  const update = useAction(id, { failed: 'Not changed', touches });
  return (
    <Switch
      aria-label={`${item.name} is on`}
      checked={item.enabled}
      disabled={update.pending}
      onChange={(event) => {
        const body = { enabled: event.currentTarget.checked };
        void update.run({ params: { id: item.id }, body } as unknown as Request<OperationId>);
      }}
    />
  );
}
