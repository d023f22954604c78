import { Button, Menu } from '@mantine/core';
import { IconEye, IconEyeOff } from '@tabler/icons-react';
import { useState } from 'react';
import { useRefresh } from '../../action.ts';
import { call, type Request } from '../../api.ts';
import { Confirm } from '../../components/form.tsx';
import { say } from '../../components/problem.tsx';
import { useMay } from '../../session.tsx';

type Filter = Request<'devices.bulk'>['body']['filter'];
type Filters = Record<string, string | undefined>;

/** The list's filters as the body of a bulk change. */
const bodyOf = (filters: Filters): Filter => {
  const { monitor, search, Address, class: classes, collector, site } = filters;
  const given = Object.entries({ search, Address, class: classes, collector, site }).filter(
    ([, value]) => value,
  );
  return { ...Object.fromEntries(given), ...(monitor && { monitor: monitor === '1' ? 1 : 0 }) };
};

/** Watches, or stops watching, every device that the filters match: not only those in sight. */
export function BulkWatch({ filters, count }: { filters: Filters; count: number | undefined }) {
  const operator = useMay('operator');
  const refresh = useRefresh();
  const [monitor, setMonitor] = useState<0 | 1>();
  if (!operator || !count) return null;
  const many = `${count.toLocaleString('en')} ${count === 1 ? 'device' : 'devices'}`;
  const run = async () => {
    if (monitor === undefined) return;
    const body = { filter: bodyOf(filters), set: { monitor }, expect: count };
    const { data } = await call('devices.bulk', { body });
    refresh('devices', 'summary', 'topology');
    const left = data.matched - data.changed;
    say(
      `${data.changed.toLocaleString('en')} changed${left > 0 ? `, ${left.toLocaleString('en')} were so already` : ''}`,
    );
  };
  return (
    <>
      <Menu>
        <Menu.Target>
          <Button variant="default" leftSection={<IconEye size={14} aria-hidden />}>
            Watch
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconEye size={15} />} onClick={() => setMonitor(1)}>
            Watch all {many}
          </Menu.Item>
          <Menu.Item leftSection={<IconEyeOff size={15} />} onClick={() => setMonitor(0)}>
            Stop watching all {many}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Confirm
        title={monitor === 0 ? `Stop watching ${many}?` : `Watch ${many}?`}
        opened={monitor !== undefined}
        onClose={() => setMonitor(undefined)}
        onConfirm={run}
        confirm={monitor === 0 ? 'Stop watching' : 'Watch'}
        danger={monitor === 0}
      >
        {monitor === 0
          ? 'Their open events stay; nothing new is noticed between scans.'
          : 'Collectors ping them and read their interfaces at the intervals of their site, and raise events.'}{' '}
        This changes every device that matches the filters now, on all pages.
      </Confirm>
    </>
  );
}
