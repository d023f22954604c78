import { Menu } from '@mantine/core';
import { IconEye, IconEyeOff } from '@tabler/icons-react';
import { memo, useState } from 'react';
import type { Request } from '../../api.ts';
import { IconButton } from '../../components/controls/index.ts';
import { notify } from '../../components/feedback/index.ts';
import { Confirm } from '../../components/form/index.ts';
import { plural } from '../../format.ts';
import { useMay } from '../../session.tsx';
import { useSend } from '../../use-action.ts';

type Filter = Request<'devices.bulk'>['body']['filter'];
type Filters = Record<string, string | undefined>;

/** The list's filters as the body of a bulk change. */
const bodyOf = ({ monitor, tag, field, ...filters }: Filters): Filter => ({
  ...Object.fromEntries(Object.entries(filters).filter(([, value]) => value)),
  ...(tag && { tag: [tag] }),
  ...(field && { field: [field] }),
  ...(monitor && { monitor: monitor === '1' ? 1 : 0 }),
});

/** Turns monitoring on or off for every device that the filters match: not only those in sight. */
export const BulkMonitor = memo(function BulkMonitor({
  filters,
  count,
}: {
  filters: Filters;
  count: number | undefined;
}) {
  const may = useMay('devices.bulk');
  const send = useSend('summary', 'topology');
  const [monitor, setMonitor] = useState<0 | 1>();
  if (!may || !count) return null;
  const found = plural(count, 'device');
  const run = async () => {
    if (monitor === undefined) return;
    const body = { filter: bodyOf(filters), set: { monitor }, expect: count };
    const { data } = await send('devices.bulk', { body });
    const left = data.matched - data.changed;
    notify(
      `${data.changed.toLocaleString('en')} changed${left > 0 ? `, ${left.toLocaleString('en')} unchanged` : ''}`,
    );
  };
  return (
    <>
      <Menu>
        <Menu.Target>
          <IconButton icon={IconEye}>Monitor</IconButton>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconEye size={15} />} onClick={() => setMonitor(1)}>
            Monitor all {found}
          </Menu.Item>
          <Menu.Item leftSection={<IconEyeOff size={15} />} onClick={() => setMonitor(0)}>
            Stop monitoring all {found}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {monitor !== undefined && (
        <Confirm
          title={monitor === 0 ? `Stop monitoring ${found}?` : `Monitor ${found}?`}
          onClose={() => setMonitor(undefined)}
          onConfirm={run}
          confirm={monitor === 0 ? 'Stop monitoring' : 'Monitor'}
          danger={monitor === 0}
        >
          {monitor === 0
            ? 'Their open events stay; nothing new is noticed between scans.'
            : 'Collectors ping them and read their interfaces at the intervals of their site, and raise events.'}{' '}
          This changes every device that matches the filters now, on all pages.
        </Confirm>
      )}
    </>
  );
});
