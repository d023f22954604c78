import { Sparkline } from '../../../components/chart/sparkline.tsx';
import type { Busy } from './busiest.ts';

/** The course of an interface's traffic in a row of a table. */
export const Traffic = ({ port }: { port: Busy }) => (
  <Sparkline
    label={`Traffic of ${port.name}`}
    lines={[
      { values: port.in, colour: '--chart-1' },
      { values: port.out, colour: '--chart-2' },
    ]}
  />
);
