import { FileInput, Select } from '@mantine/core';
import type { ImportedRow, ImportResult } from '@rollcall/shared/api/add-devices';
import { IconFileImport } from '@tabler/icons-react';
import { useState } from 'react';
import { call } from '../../api.ts';
import { useSiteChoices } from '../../choices.ts';
import { notify } from '../../components/feedback/index.ts';
import { Dialog, Form, FormDialog } from '../../components/form/index.ts';
import { Tag } from '../../components/show/index.ts';
import { type Column, ShortTable } from '../../components/table/index.ts';
import { plural } from '../../format.ts';
import { useInvalidate } from '../../use-action.ts';

const WORDS: Record<ImportedRow['action'], string> = {
  create: 'new',
  update: 'changed',
  unchanged: 'unchanged',
  error: 'error',
};
const changeText = ({ column, from, to }: ImportedRow['changes'][number]): string =>
  from === null ? `${column}: ${to}` : `${column}: ${from} → ${to}`;
const errorText = ({ column, message }: ImportedRow['errors'][number]): string =>
  column === null ? message : `${column} ${message}`;

const COLUMNS: readonly Column<ImportedRow>[] = [
  { id: 'line', title: 'Line', width: '48px', numeric: true, narrow: true },
  {
    id: 'action',
    title: 'Result',
    width: '100px',
    narrow: true,
    value: (row) => WORDS[row.action],
    cell: (row) => <Tag>{WORDS[row.action]}</Tag>,
  },
  { id: 'address', title: 'Address', width: '130px', mono: true },
  {
    id: 'changes',
    title: 'Changes or error',
    width: 'minmax(110px, 1fr)',
    narrow: true,
    wrap: true,
    value: (row) => [...row.changes.map(changeText), ...row.errors.map(errorText)].join('; '),
  },
];
/** Rows of the table; the others are as these. */
const SHOWN = 200;

/** Devices from CSV: what each row would do first, then the import. */
export function ImportDevices({ onClose }: { onClose: () => void }) {
  const sites = useSiteChoices();
  const refresh = useInvalidate();
  const [file, setFile] = useState<File | null>(null);
  const [site, setSite] = useState<string | null>(null);
  const [plan, setPlan] = useState<{ csv: string; result: ImportResult }>();
  const send = async (csv: string, dryRun: boolean) =>
    (await call('devices.import', { body: { csv, dryRun, ...(site && { site }) } })).data;
  const submit = async () => {
    const { csv } = plan ?? {};
    if (csv === undefined) return;
    const done = await send(csv, false);
    refresh('devices', 'summary', 'topology');
    notify(
      `${plural(done.created, 'device')} added, ${done.updated} changed, ${plural(done.failed, 'row')} not imported`,
    );
  };
  const check = async () => {
    if (!file) return;
    const csv = await file.text();
    setPlan({ csv, result: await send(csv, true) });
  };
  const count = plan ? plan.result.created + plan.result.updated : 0;
  if (!plan)
    return (
      <Dialog title="Import devices" onClose={onClose}>
        <Form submit="Check" ready={file !== null} onCancel={onClose} onSubmit={check}>
          <p className="quiet">
            CSV whose first line names the columns: site, address, name, class, monitor, tags (separated by
            ;), note, and custom fields as field:NAME. The export of the list is such a file. Nothing is
            written before you have seen what each row does.
          </p>
          <FileInput
            label="Choose a file"
            accept=".csv,text/csv"
            leftSection={<IconFileImport size={15} aria-hidden />}
            value={file}
            onChange={setFile}
          />
          <Select
            label="Site of rows that name none"
            data={sites}
            clearable
            value={site}
            onChange={setSite}
          />
        </Form>
      </Dialog>
    );
  const { created, updated, unchanged, failed, ignored, rows } = plan.result;
  return (
    <FormDialog
      title="Import devices"
      submit={`Import ${plural(count, 'row')}`}
      ready={count > 0}
      onClose={onClose}
      onSubmit={submit}
      size={860}
    >
      <p>
        {plural(created, 'new device')}, {updated} changed, {unchanged} unchanged, {plural(failed, 'row')}{' '}
        with an error.
        {ignored.length > 0 && (
          <span className="quiet"> Columns that are not imported: {ignored.join(', ')}.</span>
        )}
        {rows.length > SHOWN && (
          <span className="quiet"> Only the first {plural(SHOWN, 'row')} are shown.</span>
        )}
      </p>
      <ShortTable label="Rows" items={rows.slice(0, SHOWN)} columns={COLUMNS} />
    </FormDialog>
  );
}
