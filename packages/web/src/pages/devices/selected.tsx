import type { Device } from '@rollcall/shared/api/inventory';
import { IconEye, IconEyeOff, IconRadar2, IconTags, IconTool, IconTrash } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api.ts';
import { IconButton } from '../../components/controls/index.ts';
import { notifyProblem } from '../../components/feedback/index.ts';
import { Confirm, ManyDialog } from '../../components/form/index.ts';
import { type ListQuery, SelectionBar, type useSelection } from '../../components/table/index.ts';
import { plural } from '../../format.ts';
import { useMay } from '../../session.tsx';
import { useAction, useSend, useSendEach } from '../../use-action.ts';

interface SelectedDevicesProps {
  selection: ReturnType<typeof useSelection<Device>>;
  query: ListQuery<'devices.list'>;
  total: number | undefined;
}

/** What operators do with the devices that they selected. */
export function SelectedDevices({ selection, query, total }: SelectedDevicesProps) {
  const may = useMay('devices.delete');
  const navigate = useNavigate();
  const [deleting, setDeleting] = useState(false);
  const [tagging, setTagging] = useState(false);
  const { items, clear, replace } = selection;
  const monitor = useAction('devices.bulk', {
    done: ({ data }) => `${plural(data.changed, 'device')} changed`,
    failed: 'Not changed',
    touches: ['summary', 'topology'],
  });
  const send = useSend();
  const deleteEach = useSendEach('summary', 'topology', 'events');
  const ids = items.map(({ id }) => id).join();
  const set = (value: 0 | 1) =>
    void monitor.run({ body: { filter: { ids }, set: { monitor: value }, expect: items.length } });
  // Windows and scans are of one site.
  const [site, ...others] = new Set(items.map(({ siteId }) => siteId));
  const apart = others.length > 0 ? 'The selected devices are of several sites' : undefined;
  const targets = items.flatMap(({ address }) => address ?? []).join(', ');
  const all = () =>
    call('devices.list', { query: { ...query, page: 1, pageSize: total } })
      .then(({ data }) => replace(data))
      .catch((error) => notifyProblem('Not selected', error));
  return (
    <SelectionBar selection={selection} noun="device" total={total} onAll={() => void all()}>
      <IconButton size="compact-sm" icon={IconEye} loading={monitor.pending} onClick={() => set(1)}>
        Monitor
      </IconButton>
      <IconButton size="compact-sm" icon={IconEyeOff} loading={monitor.pending} onClick={() => set(0)}>
        Stop monitoring
      </IconButton>
      <IconButton
        size="compact-sm"
        icon={IconTool}
        disabled={apart !== undefined}
        title={apart}
        onClick={() => void navigate({ to: '/maintenance', search: { edit: 'new', device: ids } })}
      >
        Plan maintenance
      </IconButton>
      <IconButton
        size="compact-sm"
        icon={IconRadar2}
        disabled={apart !== undefined || targets === ''}
        title={apart}
        onClick={() =>
          void navigate({ to: '/discovery', search: { new: '1', site, targets, profile: 'deep' } })
        }
      >
        Scan again
      </IconButton>
      <IconButton size="compact-sm" icon={IconTags} onClick={() => setTagging(true)}>
        Tags and fields
      </IconButton>
      {may && (
        <IconButton size="compact-sm" icon={IconTrash} onClick={() => setDeleting(true)}>
          Delete
        </IconButton>
      )}
      {tagging && (
        <ManyDialog
          name={plural(items.length, 'device')}
          of="device"
          items={items}
          onClose={() => setTagging(false)}
          onSave={async (set) => {
            await send('devices.bulk', { body: { filter: { ids }, set, expect: items.length } });
            clear();
          }}
        />
      )}
      {deleting && (
        <Confirm
          title={`Delete ${plural(items.length, 'device')}?`}
          confirm="Delete"
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await deleteEach(
              'devices.delete',
              items.map(({ id }) => ({ params: { id } })),
              { done: (count) => `${plural(count, 'device')} deleted`, failed: 'Not deleted' },
            );
            clear();
          }}
        >
          Their open events are closed, their history is kept. A later scan that finds them makes them new
          devices.
        </Confirm>
      )}
    </SelectionBar>
  );
}
