import { IconPencil, IconPlus, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { editQuery } from '../../api.ts';
import type { SetUrlState } from '../../url-state.ts';
import { useSend } from '../../use-action.ts';
import { IconButton, type MenuAction } from '../controls/index.ts';
import { Loaded } from '../feedback/index.ts';
import { Confirm, Dialog } from '../form/index.ts';
import { Body } from '../page/index.ts';
import { type Column, menuColumn, type PagedList, VirtualTable } from '../table/index.ts';

/** Things that people make, change and delete; each has an `id` and a `name`. */
type Kind = 'users' | 'sites' | 'maintenance' | 'subscriptions' | 'profiles' | 'credentials' | 'schedules';
const NOUNS: Record<Kind, string> = {
  users: 'user',
  sites: 'site',
  maintenance: 'maintenance',
  subscriptions: 'subscription',
  profiles: 'profile',
  credentials: 'credential',
  schedules: 'schedule',
};
const NEW = 'new';

interface Edited {
  sort?: string | undefined;
  /** Id of the one whose form is open, or `new`. */
  edit?: string | undefined;
}

export interface FormOf<T> {
  /** The one that is changed; none when one is made. */
  one?: T;
  /** What was read, so that a change made in between is noticed. */
  etag?: string | undefined;
  onClose: () => void;
}

/** Opens the form of a new one. */
export const NewButton = ({
  change,
  variant = 'filled',
  children,
}: {
  change: SetUrlState<Edited>;
  variant?: 'filled' | 'default';
  children: ReactNode;
}) => (
  <IconButton icon={IconPlus} variant={variant} onClick={() => change({ edit: NEW })}>
    {children}
  </IconButton>
);

/** All things of a kind as a table; who may opens the form of each, and deletes it. */
export function Collection<T extends { id: string; name: string }>({
  kind,
  label,
  source,
  columns,
  order,
  search,
  change,
  may,
  actions = () => [],
  fixed = () => undefined,
  onOpen,
  form,
  lost,
  touches = [],
  empty,
}: {
  kind: Kind;
  label: string;
  source: PagedList<T>;
  columns: readonly Column<T>[];
  /** Sorted by this at first; without it, always in the order of the server. */
  order?: string;
  search: Edited;
  change: SetUrlState<Edited>;
  /** Whether the person may change anything. */
  may: boolean;
  /** What else can be done with one. */
  actions?: (one: T) => readonly MenuAction[];
  /** What cannot be done with one: it is neither changed nor deleted, or only not deleted. */
  fixed?: (one: T) => 'whole' | 'there' | undefined;
  /** What a click means to those who may not change. */
  onOpen?: (one: T) => void;
  form: (props: FormOf<T>) => ReactNode;
  /** What goes with one that is deleted. */
  lost: (one: T) => ReactNode;
  /** Resources that show something of these. */
  touches?: readonly string[];
  empty: ReactNode;
}) {
  const [deleting, setDeleting] = useState<T>();
  const send = useSend(...touches);
  const { sort = order, edit } = search;
  const open = (one: T) => (fixed(one) === 'whole' ? undefined : change({ edit: one.id }));
  const close = () => change({ edit: undefined }, true);
  const own = (one: T): MenuAction[] => [
    ...(fixed(one) === 'whole' ? [] : [{ label: 'Change', icon: IconPencil, run: () => open(one) }]),
    ...(fixed(one) ? [] : [{ label: 'Delete', icon: IconTrash, run: () => setDeleting(one), danger: true }]),
  ];
  return (
    <>
      <Body>
        <VirtualTable
          label={label}
          source={source}
          columns={[...columns, menuColumn<T>((one) => [...actions(one), ...(may ? own(one) : [])])]}
          sort={sort}
          {...(order !== undefined && { onSort: (next: string) => change({ sort: next }) })}
          onOpen={may ? open : onOpen}
          empty={empty}
        />
      </Body>
      {may && edit === NEW && form({ onClose: close })}
      {may && edit && edit !== NEW && <Opened kind={kind} id={edit} form={form} onClose={close} />}
      {deleting && (
        <Confirm
          title={`Delete the ${NOUNS[kind]} ${deleting.name}?`}
          confirm="Delete"
          onClose={() => setDeleting(undefined)}
          onConfirm={() => send(`${kind}.delete`, { params: { id: deleting.id } })}
        >
          {lost(deleting)}
        </Confirm>
      )}
    </>
  );
}

function Opened<T>({
  kind,
  id,
  form,
  onClose,
}: {
  kind: Kind;
  id: string;
  form: (props: FormOf<T>) => ReactNode;
  onClose: () => void;
}) {
  const read = useQuery(editQuery(`${kind}.get`, { params: { id } }));
  return (
    <Loaded
      query={read}
      frame={(instead) =>
        instead && (
          <Dialog title={`No such ${NOUNS[kind]}`} onClose={onClose}>
            {instead}
          </Dialog>
        )
      }
    >
      {({ data, etag }) => form({ one: data as T, etag, onClose })}
    </Loaded>
  );
}
