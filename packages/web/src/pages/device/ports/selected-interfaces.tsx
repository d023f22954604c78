import type { NetworkInterface } from '@rollcall/shared/api/interfaces';
import { IconTags } from '@tabler/icons-react';
import { useState } from 'react';
import { call } from '../../../api.ts';
import { IconButton } from '../../../components/controls/index.ts';
import { notifyProblem } from '../../../components/feedback/index.ts';
import { ManyDialog } from '../../../components/form/index.ts';
import { type ListQuery, SelectionBar, type useSelection } from '../../../components/table/index.ts';
import { plural } from '../../../format.ts';
import { useSend } from '../../../use-action.ts';

interface SelectedInterfacesProps {
  selection: ReturnType<typeof useSelection<NetworkInterface>>;
  query: ListQuery<'interfaces.list'> & { deviceId: string };
  total: number | undefined;
}

/** What operators do with the interfaces of a device that they selected. */
export function SelectedInterfaces({ selection, query, total }: SelectedInterfacesProps) {
  const { items, clear, replace } = selection;
  const [tagging, setTagging] = useState(false);
  const send = useSend();
  const all = () =>
    call('interfaces.list', { query: { ...query, page: 1, pageSize: total } })
      .then(({ data }) => replace(data))
      .catch((error) => notifyProblem('Not selected', error));
  return (
    <SelectionBar selection={selection} noun="interface" total={total} onAll={() => void all()}>
      <IconButton size="compact-sm" icon={IconTags} onClick={() => setTagging(true)}>
        Tags and fields
      </IconButton>
      {tagging && (
        <ManyDialog
          name={plural(items.length, 'interface')}
          of="interface"
          items={items}
          onClose={() => setTagging(false)}
          onSave={async (set) => {
            const filter = { deviceId: query.deviceId, ids: items.map(({ id }) => id).join() };
            await send('interfaces.bulk', { body: { filter, set, expect: items.length } });
            clear();
          }}
        />
      )}
    </SelectionBar>
  );
}
