import { Button, Menu } from '@mantine/core';
import { csvLine } from '@rollcall/shared/csv';
import { IconDownload, IconTerminal2 } from '@tabler/icons-react';
import { memo } from 'react';
import { addressOf, allPages, type Item } from '../../api.ts';
import { notify, notifyProblem } from '../feedback/index.ts';
import { copyText } from '../show/index.ts';
import { type Column, cellValue, type ListId, type ListQuery } from '../table/index.ts';
import { useFile } from './use-file.ts';

/** A shell line that asks what the page asks; the token comes from the environment, not from the history. */
function curlOf(id: ListId, query: Record<string, string | undefined>, origin: string): string {
  const [, path] = addressOf(id, { query });
  const url = `${origin}${path}`.replaceAll("'", '%27');
  return `curl -sS -H "Authorization: Bearer $ROLLCALL_TOKEN" '${url}'`;
}

interface ExportMenuViewProps<Id extends ListId> {
  id: Id;
  query: ListQuery<Id>;
  columns: readonly Column<Item<Id>>[];
  /** Of the file. */
  name: string;
}

function ExportMenuView<Id extends ListId>({ id, query, columns, name }: ExportMenuViewProps<Id>) {
  const { progress, make, cancel } = useFile();
  async function* parts(signal: AbortSignal) {
    yield { text: csvLine(columns.map((column) => column.exportTitle ?? column.title)), done: 0, total: 1 };
    for await (const { items, done, total } of allPages(id, query, signal)) {
      const lines = items.map((item) => csvLine(columns.map((column) => cellValue(column, item))));
      yield { text: lines.join(''), done, total };
    }
  }
  if (progress !== undefined)
    return (
      <Button variant="default" onClick={cancel}>
        {progress} · cancel
      </Button>
    );
  return (
    <Menu>
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={14} aria-hidden />}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconDownload size={15} />} onClick={() => void make(`${name}.csv`, parts)}>
          CSV of these filters and columns
        </Menu.Item>
        <Menu.Item
          leftSection={<IconTerminal2 size={15} />}
          onClick={() =>
            copyText(curlOf(id, query, location.origin)).then(
              () => notify('Copied. Put an API token into ROLLCALL_TOKEN.'),
              (error) => notifyProblem('Not copied', error),
            )
          }
        >
          Copy as curl
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** What is seen, taken elsewhere: as a file with the filters and columns of the view, or as a command. */
export const ExportMenu = memo(ExportMenuView) as typeof ExportMenuView;
