import { Button, Menu } from '@mantine/core';
import { csvLine } from '@rollcall/shared/csv';
import { IconDownload, IconTerminal2 } from '@tabler/icons-react';
import { memo, useRef, useState } from 'react';
import { addressOf, allPages, type Item } from '../../api.ts';
import { download } from '../../download.ts';
import { notify, notifyProblem } from '../feedback/index.ts';
import { copyText } from '../show/index.ts';
import { type Column, cellValue, type ListId, type ListQuery } from '../table/index.ts';

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
  const [progress, setProgress] = useState<string>();
  const stop = useRef<AbortController>(undefined);
  const run = async () => {
    stop.current = new AbortController();
    const parts = [csvLine(columns.map((column) => column.exportTitle ?? column.title))];
    try {
      setProgress('0 %');
      for await (const { items, done, total } of allPages(id, query, stop.current.signal)) {
        parts.push(items.map((item) => csvLine(columns.map((column) => cellValue(column, item)))).join(''));
        setProgress(`${total > 0 ? Math.floor((done / total) * 100) : 100} %`);
      }
      download(`${name}.csv`, 'text/csv;charset=utf-8', parts);
    } catch (error) {
      if (!stop.current.signal.aborted) notifyProblem('The file was not made', error);
    } finally {
      setProgress(undefined);
    }
  };
  if (progress !== undefined)
    return (
      <Button variant="default" onClick={() => stop.current?.abort()}>
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
        <Menu.Item leftSection={<IconDownload size={15} />} onClick={() => void run()}>
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
