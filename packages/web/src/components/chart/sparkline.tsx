import classes from './chart.module.css';
import { pathOf } from './path.ts';

const WIDTH = 110;
const HEIGHT = 20;

/** The course of a few values in a line of text, without axes. */
export function Sparkline({
  label,
  lines,
}: {
  label: string;
  lines: readonly { values: readonly (number | null)[]; colour: string }[];
}) {
  const most = Math.max(0, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)));
  return (
    <svg className={classes.sparkline} width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      {lines.map(({ values, colour }) => (
        <path
          key={colour}
          d={pathOf(values, most, WIDTH, HEIGHT)}
          fill="none"
          stroke={`var(${colour})`}
          strokeWidth={1.3}
          strokeLinecap="round"
        />
      ))}
    </svg>
  );
}
