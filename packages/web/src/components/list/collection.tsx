import { IconPencil, IconPlus, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { type Body as BodyOf, editQuery, type Result } from '../../api.ts';
import type { SetUrlState } from '../../url-state.ts';
import { useSend } from '../../use-action.ts';
import { IconButton, type MenuAction } from '../controls/index.ts';
import { Loaded } from '../feedback/index.ts';
import { Confirm, Dialog, FormDialog, type FormDialogProps } from '../form/index.ts';
import { Body } from '../page/index.ts';
import { type Column, menuColumn, type PagedList, VirtualTable } from '../table/index.ts';

/** Things that people make, change and delete: what one is called, and which resources show something of it. */
const KINDS = {
  users: { noun: 'user', touches: ['assignees'] },
  sites: { noun: 'site', touches: ['summary'] },
  maintenance: { noun: 'maintenance', touches: ['events', 'cases', 'summary'] },
  subscriptions: { noun: 'subscription', touches: ['deliveries'] },
  profiles: { noun: 'profile', touches: [] },
  credentials: { noun: 'credential', touches: [] },
  schedules: { noun: 'schedule', touches: [] },
  fields: { noun: 'custom field', touches: ['devices', 'interfaces'] },
} as const;
type Kind = keyof typeof KINDS;
const NEW = 'new';

interface Edited {
  sort?: string | undefined;
  /** Id of the one whose form is open, or `new`. */
  edit?: string | undefined;
}

/** What a form is given. */
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
  empty: ReactNode;
}) {
  const [deleting, setDeleting] = useState<T>();
  const { noun, touches } = KINDS[kind];
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
          title={`Delete the ${noun} ${deleting.name}?`}
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

interface OpenedProps<T> {
  kind: Kind;
  id: string;
  form: (props: FormOf<T>) => ReactNode;
  onClose: () => void;
}

function Opened<T>({ kind, id, form, onClose }: OpenedProps<T>) {
  const read = useQuery(editQuery(`${kind}.get`, { params: { id } }));
  return (
    <Loaded
      query={read}
      frame={(instead) =>
        instead && (
          <Dialog title={`No such ${KINDS[kind].noun}`} onClose={onClose}>
            {instead}
          </Dialog>
        )
      }
    >
      {({ data, etag }) => form({ one: data as T, etag, onClose })}
    </Loaded>
  );
}

/** The form of a new one, or of one that is there: a change that somebody else made since it was read is refused. */
export function EditDialog<K extends Kind>({
  kind,
  of: { one, etag, onClose },
  create,
  update,
  onMade,
  ...dialog
}: Omit<FormDialogProps, 'title' | 'onClose' | 'onSubmit'> & {
  kind: K;
  of: FormOf<{ id: string; name: string }>;
  /** Said instead of the kind's name. */
  title?: string;
  /** What the form holds, as the body of a request. */
  create: () => BodyOf<`${K}.create`>;
  update: () => BodyOf<`${K}.update`>;
  onMade?: (made: Result<`${K}.create`>) => void;
}) {
  const { noun, touches } = KINDS[kind];
  const send = useSend(...touches);
  const save = async () => {
    if (one) {
      const request = { params: { id: one.id }, body: update() };
      await send(`${kind}.update`, request as never, { ifMatch: etag });
    } else {
      const made = await send(`${kind}.create`, { body: create() } as never);
      onMade?.(made);
    }
  };
  return (
    <FormDialog
      title={one ? `${noun[0]?.toUpperCase()}${noun.slice(1)} ${one.name}` : `New ${noun}`}
      onClose={onClose}
      onSubmit={save}
      {...dialog}
    />
  );
}
