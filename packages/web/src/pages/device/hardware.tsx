import type { DeviceDetail } from '@rollcall/shared/api/inventory';
import type { CSSProperties } from 'react';
import { Empty } from '../../components/feedback/index.ts';
import { Panel } from '../../components/page/index.ts';
import { fieldName } from '../../components/show/index.ts';
import { type Column, ShortTable } from '../../components/table/index.ts';
import classes from './device.module.css';
import { type Part, treeOf } from './entity-tree.ts';

const COLUMNS: readonly Column<Part>[] = [
  {
    id: 'name',
    title: 'Part',
    width: 'minmax(200px, 1.6fr)',
    narrow: true,
    value: (part) => part.name ?? part.description,
    cell: (part) => (
      <span
        className={classes.part}
        style={{ '--depth': part.depth } as CSSProperties}
        title={part.description ?? undefined}
      >
        {part.name ?? part.description ?? `part ${part.index}`}
      </span>
    ),
  },
  { id: 'class', title: 'Class', width: '110px', narrow: true, value: (part) => fieldName(part.class) },
  { id: 'model', title: 'Model', width: 'minmax(110px, 1fr)' },
  {
    id: 'serial',
    title: 'Serial number',
    width: 'minmax(110px, 1fr)',
    narrow: true,
    mono: true,
    value: (part) => part.serialNumber,
  },
  { id: 'maker', title: 'Manufacturer', width: 'minmax(90px, 0.8fr)', value: (part) => part.manufacturer },
  {
    id: 'revisions',
    title: 'Hardware, firmware, software',
    width: 'minmax(160px, 1fr)',
    value: (part) =>
      [part.hardwareRevision, part.firmwareRevision, part.softwareRevision].filter(Boolean).join(', '),
  },
  {
    id: 'replaceable',
    title: 'Replaceable',
    width: '82px',
    value: (part) => (part.replaceable ? 'yes' : ''),
  },
];

export function Hardware({ device }: { device: DeviceDetail }) {
  return (
    <Panel title="Hardware" note="as the device describes itself (ENTITY-MIB)" className={classes.tree}>
      <ShortTable
        label="Hardware"
        items={treeOf(device.entities)}
        columns={COLUMNS}
        rowKey={(part) => String(part.index)}
        empty={
          <Empty title="The device does not describe its hardware">
            Many simple devices have no ENTITY-MIB; a scan with the profile standard or deep asks for it.
          </Empty>
        }
      />
    </Panel>
  );
}
