import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { download } from '../../download.ts';
import { usePreferences } from '../../preferences.ts';
import { absolute, duration } from '../show/index.ts';
import classes from './chart.module.css';
import { type BandSpan, csvOf, figuresOf, gapText, type Line, valueText } from './series.ts';

/** What the lines are, with the value that is pointed at or, while none is, the figures of the whole time. */
export function Legend({
  lines,
  unit,
  at,
  times,
}: {
  lines: readonly Line[];
  unit: string;
  at: number | null;
  times: readonly number[];
}) {
  const { zone } = usePreferences();
  const time = times[at ?? -1];
  return (
    <ul className={classes.legend}>
      {lines.map((line) => {
        const { label, colour, values, p95 } = line;
        const { last, mean, most } = figuresOf(values);
        return (
          <li key={label}>
            <span className={classes.swatch} style={{ background: `var(${colour})` }} aria-hidden />
            <span>{label}</span>
            {at === null ? (
              <span className="quiet">
                last {valueText(last, unit)} · mean {valueText(mean, unit)} · max {valueText(most, unit)}
                {unit === 'bit/s' && p95 !== null && ` · 95th percentile ${valueText(p95, unit)}`}
              </span>
            ) : (
              <strong>{pointText({ line, unit, times, at }, zone)}</strong>
            )}
          </li>
        );
      })}
      {time !== undefined && <li className="quiet">{absolute(Math.floor(time), zone)}</li>}
    </ul>
  );
}

/** What the colours of the band are, each with its time in all; the one that is pointed at stands out. */
export function BandLegend({ band, at }: { band: readonly BandSpan[]; at: number | undefined }) {
  const pointed = at === undefined ? undefined : band.find(({ from, to }) => from <= at && at < to);
  const states = new Map(band.map(({ label, colour }) => [label, colour]));
  if (states.size === 0) return null;
  return (
    <ul className={classes.legend}>
      {[...states].map(([label, colour]) => (
        <li key={label}>
          <span className={classes.swatch} style={{ background: `var(${colour})` }} aria-hidden />
          {pointed?.label === label ? <strong>{label}</strong> : <span>{label}</span>}
          <span className="quiet">{duration(timeIn(band, label))}</span>
        </li>
      ))}
    </ul>
  );
}

const timeIn = (band: readonly BandSpan[], label: string): number =>
  band.reduce((sum, span) => sum + (span.label === label ? span.to - span.from : 0), 0);

/** The value of a line at a point of time, or why it has none. */
function pointText(
  { line, unit, times, at }: { line: Line; unit: string; times: readonly number[]; at: number },
  zone: string,
): string {
  const [value, time = 0] = [line.values[at], times[at]];
  if (typeof value === 'number') return valueText(value, unit);
  const half = ((times[1] ?? 0) - (times[0] ?? 0)) / 2;
  return gapText(line.gaps, { from: time - half, to: time + half }, zone) ?? valueText(value, unit);
}

interface Read {
  title: string;
  times: readonly number[];
  lines: readonly Line[];
  unit: string;
}

/** The chart for those who would rather read it; its rows, hundreds of them, are made when somebody opens it. */
export function ChartTable(read: Read) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className={classes.table} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{read.title} as a table</summary>
      {isOpen && <Values {...read} />}
    </details>
  );
}

function Values({ title, times, lines, unit }: Read) {
  const { zone } = usePreferences();
  return (
    <>
      <Button
        variant="subtle"
        leftSection={<IconDownload size={14} aria-hidden />}
        onClick={() => download(`${title}.csv`, 'text/csv;charset=utf-8', csvOf(unit, times, lines))}
      >
        CSV
      </Button>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <section className={classes.scroll} tabIndex={0} aria-label={`${title}, values`}>
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {lines.map(({ label }) => (
                <th key={label} scope="col">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map((time, i) => (
              <tr key={time}>
                <th scope="row">{absolute(Math.floor(time), zone)}</th>
                {lines.map((line) => (
                  <td key={line.label}>{pointText({ line, unit, times, at: i }, zone)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}
