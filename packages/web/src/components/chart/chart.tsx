import { useElementSize } from '@mantine/hooks';
import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { usePreferences } from '../../preferences.ts';
import { useShownScheme } from '../../theme/scheme.ts';
import classes from './chart.module.css';
import { BandLegend, ChartTable, Legend } from './legend.tsx';
import { type BandSpan, described, type Line, tickText, valueRange, valueText } from './series.ts';

/** A moment marked in a chart: an event. */
export interface Mark {
  /** Unix seconds. */
  at: number;
  /** A CSS variable of the theme. */
  colour: string;
}

export interface ChartProps {
  title: string;
  unit: string;
  /** Unix seconds, ascending. */
  times: readonly number[];
  lines: readonly Line[];
  marks?: readonly Mark[];
  band?: readonly BandSpan[] | undefined;
  /** The value axis reaches at least so far. */
  least?: number;
  /** A span of time was dragged over, Unix seconds. */
  onZoom?: (from: number, to: number) => void;
}

/** Letters that the sizes of the axes are made for, px. */
const LETTERS = 11;
/** The cursors of all charts of a page move together. */
const SYNC = 'rollcall';

/** Values over time: lines that one can point at and zoom by dragging, their figures, and the same as a table. */
export function Chart(props: ChartProps) {
  const { title, unit, times, lines, band = [] } = props;
  const [pointed, setPointed] = useState<number | null>(null);
  return (
    <figure className={classes.chart}>
      <Plot {...props} onPoint={setPointed} />
      <figcaption>
        <Legend lines={lines} unit={unit} at={pointed} times={times} />
        <BandLegend band={band} at={times[pointed ?? -1]} />
        <ChartTable title={title} times={times} lines={lines} unit={unit} />
      </figcaption>
    </figure>
  );
}

/** The lines alone. Its letters and its height are those of its style: `className`, else as on a page. */
export function Plot({
  className = classes.usual,
  onPoint = ignore,
  ...props
}: ChartProps & { className?: string | undefined; onPoint?: (index: number | null) => void }) {
  const { title, unit, lines } = props;
  const { ref, width } = useElementSize();
  const plot = usePlot(props, width, onPoint);
  return (
    <div ref={ref} className={classes.plot}>
      <div ref={plot} role="img" aria-label={described(title, unit, lines)} className={className} />
    </div>
  );
}

const ignore = () => undefined;

/** Draws into the element of the returned ref; draws anew when the colours, the width or the lines change. */
function usePlot(
  { unit, times, lines, marks = [], band = [], least = 1, onZoom }: ChartProps,
  width: number,
  onPoint: (index: number | null) => void,
) {
  const element = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const scheme = useShownScheme();
  const { zone } = usePreferences();
  const kept = useRef({ marks, band, onZoom, onPoint });
  kept.current = { marks, band, onZoom, onPoint };
  const looks = JSON.stringify(lines.map(({ label, colour, isMirrored }) => [label, colour, isMirrored]));

  // biome-ignore lint/correctness/useExhaustiveDependencies: the values follow below without building the plot anew
  useEffect(() => {
    if (!element.current || width === 0) return;
    const made = new uPlot(
      options({ unit, lines, least, zone, width, ...sizeOf(element.current), kept: () => kept.current }),
      aligned(times, lines),
      element.current,
    );
    plot.current = made;
    return () => {
      plot.current = null;
      made.destroy();
    };
  }, [unit, looks, least, width, zone, scheme]);
  const data = useMemo(() => aligned(times, lines), [times, lines]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: marks and the band are read while it is drawn
  useEffect(() => plot.current?.setData(data), [data, marks, band]);
  return element;
}

const sizeOf = (element: HTMLElement) => ({
  height: element.clientHeight,
  letters: Number.parseFloat(getComputedStyle(element).fontSize),
});

/** Times and values as the plot takes them; what is mirrored is negative there. */
const aligned = (times: readonly number[], lines: readonly Line[]): uPlot.AlignedData => [
  [...times],
  ...lines.map(({ values, isMirrored }) =>
    values.map((value) => (value !== null && isMirrored ? -value : value)),
  ),
];

const colourOf = (variable: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(variable).trim();

interface Drawn {
  unit: string;
  lines: readonly Line[];
  least: number;
  width: number;
  height: number;
  /** Size of the letters, px. */
  letters: number;
  zone: string;
  /** What may change without drawing anew. */
  kept: () => {
    marks: readonly Mark[];
    band: readonly BandSpan[];
    onZoom: ChartProps['onZoom'];
    onPoint: (i: number | null) => void;
  };
}

function options({ unit, lines, least, width, height, letters, zone, kept }: Drawn): uPlot.Options {
  const grid = { stroke: colourOf('--line-2'), width: 1 };
  const font = `${letters}px "IBM Plex Sans Variable"`;
  const axis = { stroke: colourOf('--ink-2'), grid, ticks: grid, font };
  const times = letters / LETTERS;
  return {
    width: Math.floor(width),
    height,
    padding: [10 * times, 20 * times, 0, 0],
    legend: { show: false },
    cursor: {
      sync: { key: SYNC },
      drag: { x: kept().onZoom !== undefined, y: false, setScale: false },
      points: { size: 6 },
    },
    scales: { x: { time: true }, y: { range: (_, low, high) => valueRange(low, high, least) } },
    axes: [
      {
        ...axis,
        size: 26 * times,
        space: 50 * times,
        values: (_, ticks, _axis, _space, apart) => ticks.map((at) => tickText(at, apart, zone)),
      },
      {
        ...axis,
        size: 78 * times,
        space: 30 * times,
        values: (_, ticks) => ticks.map((value) => valueText(Math.abs(value), unit)),
      },
    ],
    series: [
      {},
      ...lines.map(({ label, colour, isMirrored }) => ({
        label,
        stroke: colourOf(colour),
        width: 1.5 * times,
        ...(isMirrored === undefined ? {} : { fill: `${colourOf(colour)}22` }),
        points: { show: false },
      })),
    ],
    hooks: {
      setCursor: [({ cursor }) => kept().onPoint(cursor.idx ?? null)],
      setSelect: [
        (plot) => {
          const { left, width: dragged } = plot.select;
          if (dragged < 4) return;
          const [from, to] = [plot.posToVal(left, 'x'), plot.posToVal(left + dragged, 'x')];
          plot.setSelect({ ...plot.select, width: 0 }, false);
          kept().onZoom?.(Math.floor(from), Math.ceil(to));
        },
      ],
      draw: [(plot) => drawBand(plot, kept().band), (plot) => drawMarks(plot, kept().marks)],
    },
  };
}

/** Height of the band, px. */
const BAND = 5;

/** Right below the plot, over its whole width: upon it, it would hide lines that are near 0. */
function drawBand(plot: uPlot, band: readonly BandSpan[]): void {
  const { ctx, bbox } = plot;
  const within = (at: number) =>
    Math.min(Math.max(plot.valToPos(at, 'x', true), bbox.left), bbox.left + bbox.width);
  const height = BAND * uPlot.pxRatio;
  for (const { from, to, colour } of band) {
    const [left, right] = [within(from), within(to)];
    if (right <= left) continue;
    ctx.fillStyle = colourOf(colour);
    // Nothing that happened is thinner than a pixel.
    ctx.fillRect(left, bbox.top + bbox.height + uPlot.pxRatio, Math.max(right - left, uPlot.pxRatio), height);
  }
}

function drawMarks(plot: uPlot, marks: readonly Mark[]): void {
  const { ctx, bbox } = plot;
  for (const { at, colour } of marks) {
    const x = Math.round(plot.valToPos(at, 'x', true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.save();
    ctx.strokeStyle = colourOf(colour);
    ctx.lineWidth = uPlot.pxRatio;
    ctx.setLineDash([4, 3]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.restore();
  }
}
