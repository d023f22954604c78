import type { ReactNode } from 'react';
import classes from './choices.module.css';

/** Things to choose from, one a line: one of them, or with `many` any number. */
export function Choices<T extends { id: string }>({
  items,
  chosen,
  onChange,
  many = false,
  empty,
  children,
}: {
  /** Undefined until they are known. */
  items: readonly T[] | undefined;
  chosen: readonly string[];
  onChange: (ids: string[]) => void;
  many?: boolean;
  /** Said where there is nothing to choose from. */
  empty: string;
  children: (item: T) => ReactNode;
}) {
  const choose = (id: string, on: boolean) => {
    if (!many) onChange([id]);
    else onChange(on ? [...chosen, id] : chosen.filter((one) => one !== id));
  };
  return (
    <ul className={classes.choices}>
      {items?.map((item) => (
        <li key={item.id}>
          <label data-on={chosen.includes(item.id) || undefined}>
            <input
              type={many ? 'checkbox' : 'radio'}
              name="choice"
              checked={chosen.includes(item.id)}
              onChange={(event) => choose(item.id, event.target.checked)}
            />
            {children(item)}
          </label>
        </li>
      ))}
      {items?.length === 0 && <li className="quiet">{empty}</li>}
    </ul>
  );
}
