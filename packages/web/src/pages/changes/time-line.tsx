import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type PointerEvent, useMemo, useState } from 'react';
import { apiQuery, type Request } from '../../api.ts';
import { ProblemView } from '../../components/feedback/index.ts';
import { absolute, duration } from '../../components/show/index.ts';
import { count, plural } from '../../format.ts';
import { usePreferences } from '../../preferences.ts';
import { GROUPS, type Span, spanAt, spansOf, timeOf } from './spans.ts';
import classes from './time-line.module.css';

/** Units of the drawing: it is stretched to the width of the page. */
const HEIGHT = 100;
const WIDTH = 10;

type OnTime = (time: { from: string; to: string }) => void;

/** How many changes there were when: a bar for each span, which leads to its time; the same as a table, for the keyboard, too. */
export function TimeLine({
  query,
  onTime,
}: {
  query: NonNullable<Request<'changes.counts'>['query']>;
  onTime: OnTime;
}) {
  const read = useQuery({
    ...apiQuery('changes.counts', { query }),
    placeholderData: keepPreviousData,
  });
  const spans = useMemo(() => (read.data ? spansOf(read.data.data) : []), [read.data]);
  const { zone } = usePreferences();
  const [first, last] = [spans[0], spans.at(-1)];
  if (read.error) return <ProblemView error={read.error} retry={() => void read.refetch()} />;
  if (!read.data || !first || !last) return null;
  const { step } = read.data.data;
  const total = spans.reduce((sum, span) => sum + span.total, 0);
  const when = (at: number) => absolute(at, zone).slice(0, 16);
  return (
    <figure className={classes.line} aria-label="Time line">
      <Bars
        spans={spans}
        onTime={onTime}
        label={`${plural(total, 'change')} from ${when(first.from)} to ${when(last.to)}`}
        titleOf={(span) => `${when(span.from)}: ${plural(span.total, 'change')}`}
      />
      <div className={classes.below}>
        <span>{when(first.from)}</span>
        {GROUPS.filter(({ id }) => spans.some(({ counts }) => counts[id] > 0)).map(
          ({ id, label, colour }) => (
            <span key={id} className={classes.key}>
              <i style={{ background: `var(${colour})` }} />
              {label}
            </span>
          ),
        )}
        <span>Each bar {duration(step)}; drag over bars to choose their time</span>
        <span>{when(last.to)}</span>
      </div>
      <AsTable spans={spans} onTime={onTime} when={when} />
    </figure>
  );
}

function Bars({
  spans,
  onTime,
  label,
  titleOf,
}: {
  spans: readonly Span[];
  onTime: OnTime;
  label: string;
  titleOf: (span: Span) => string;
}) {
  // With the spans that were there when it began: others may come meanwhile.
  const [drawn, setDrawn] = useState<{ begin: number; end: number; of: readonly Span[] }>();
  const most = Math.max(1, ...spans.map(({ total }) => total));
  const at = ({ clientX, currentTarget }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return spanAt((clientX - left) / width, spans.length);
  };
  const chosen = drawn && timeOf(drawn.of, drawn.begin, drawn.end);
  return (
    <svg
      className={classes.bars}
      viewBox={`0 0 ${spans.length * WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
      onPointerDown={(event) => {
        if (event.button !== 0 || !event.isPrimary) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        setDrawn({ begin: at(event), end: at(event), of: spans });
      }}
      onPointerMove={(event) => drawn && setDrawn({ ...drawn, end: at(event) })}
      onPointerUp={() => {
        setDrawn(undefined);
        if (chosen) onTime(chosen);
      }}
      onPointerCancel={() => setDrawn(undefined)}
    >
      {spans.map((span, i) => (
        <g key={span.from}>
          <title>{titleOf(span)}</title>
          <rect x={i * WIDTH} y={0} width={WIDTH} height={HEIGHT} fill="transparent" />
          <Stack span={span} x={i * WIDTH + 1} most={most} />
        </g>
      ))}
      {drawn && (
        <rect
          className={classes.picked}
          x={Math.min(drawn.begin, drawn.end) * WIDTH}
          width={(Math.abs(drawn.end - drawn.begin) + 1) * WIDTH}
          {...{ y: 0, height: HEIGHT }}
        />
      )}
    </svg>
  );
}

/** Of a group with few changes beside many: so much of the height that it can be seen. */
const LEAST = 3;

/** The groups of one span on each other. */
function Stack({ span, x, most }: { span: Span; x: number; most: number }) {
  const room = HEIGHT - 4 - GROUPS.length * LEAST;
  let top = HEIGHT;
  return GROUPS.filter(({ id }) => span.counts[id] > 0).map(({ id, colour }) => {
    const height = LEAST + (span.counts[id] / most) * room;
    top -= height;
    return <rect key={id} x={x} y={top} width={WIDTH - 2} height={height} fill={`var(${colour})`} />;
  });
}

function AsTable({
  spans,
  onTime,
  when,
}: {
  spans: readonly Span[];
  onTime: OnTime;
  when: (at: number) => string;
}) {
  return (
    <details className={classes.table}>
      <summary>As a table</summary>
      <div className={classes.scroll}>
        <table>
          <thead>
            <tr>
              <th scope="col">From</th>
              {GROUPS.map(({ id, label }) => (
                <th key={id} scope="col">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {spans
              .filter(({ total }) => total > 0)
              .map((span) => (
                <tr key={span.from}>
                  <th scope="row">
                    <button
                      type="button"
                      aria-label={`Changes from ${when(span.from)} to ${when(span.to)}`}
                      onClick={() => onTime({ from: String(span.from), to: String(span.to) })}
                    >
                      {when(span.from)}
                    </button>
                  </th>
                  {GROUPS.map(({ id }) => (
                    <td key={id}>{count(span.counts[id])}</td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
