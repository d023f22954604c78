import type { ReactNode } from 'react';
import classes from './facts.module.css';
import { Time } from './time.tsx';

/** Names and values, one beneath the other. */
export const Facts = ({ children }: { children: ReactNode }) => <dl className={classes.facts}>{children}</dl>;

/** One of them; what is not known is left out. */
export function Fact({ name, children }: { name: string; children?: ReactNode }) {
  if (children === null || children === undefined || children === false || children === '') return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <span>{children}</span>
      </dd>
    </>
  );
}

/** A point in time, left out where there is none. */
export const TimeFact = ({ name, at }: { name: string; at: number | null | undefined }) => (
  <Fact name={name}>{at && <Time at={at} />}</Fact>
);
