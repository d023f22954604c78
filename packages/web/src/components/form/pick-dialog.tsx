import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { apiQuery, type Item, type Request } from '../../api.ts';
import { SearchBox } from '../filter/index.ts';
import type { ListId, ListQuery } from '../table/index.ts';
import { Choices } from './choices.tsx';
import { FormDialog } from './form.tsx';

type Named<Id extends ListId> = Item<Id> & { id: string };

/** Finds another thing of the same kind and does something with both. */
export function PickDialog<Id extends ListId>({
  title,
  intro,
  id,
  list,
  query,
  label,
  empty,
  choose,
  confirm,
  danger = false,
  onPick,
  onClose,
  children,
}: {
  title: string;
  intro: string;
  /** Of the thing itself, which is not offered. */
  id: string;
  /** Where it is looked for, and how by the words that are typed. */
  list: Id;
  query: (text: string) => ListQuery<Id>;
  /** Of the field that finds. */
  label: string;
  empty: string;
  /** On the button until one is chosen. */
  choose: string;
  confirm: (other: Named<Id>) => string;
  danger?: boolean;
  onPick: (other: Named<Id>) => Promise<unknown>;
  onClose: () => void;
  children: (item: Named<Id>) => ReactNode;
}) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<string[]>([]);
  const request = { query: { ...query(text), pageSize: '8' } } as unknown as Request<Id>;
  const found = useQuery({ ...apiQuery(list, request), placeholderData: keepPreviousData });
  const offered = (found.data?.data as Named<Id>[] | undefined)?.filter((one) => one.id !== id);
  const other = offered?.find((one) => chosen.includes(one.id));
  return (
    <FormDialog
      title={title}
      onClose={onClose}
      size={520}
      submit={other ? confirm(other) : choose}
      ready={other !== undefined}
      danger={danger}
      onSubmit={async () => other && onPick(other)}
    >
      <p className="quiet">{intro}</p>
      <SearchBox label={label} value={text} onChange={setText} width={480} />
      <Choices items={offered} chosen={chosen} onChange={setChosen} empty={empty}>
        {children}
      </Choices>
    </FormDialog>
  );
}
