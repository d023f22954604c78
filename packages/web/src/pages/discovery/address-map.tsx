import { useElementSize } from '@mantine/hooks';
import type { ScanAddress, ScanDetail } from '@rollcall/shared/api/scans';
import { useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type MouseEvent, useEffect, useMemo, useRef, useState } from 'react';
import { call } from '../../api.ts';
import { Empty } from '../../components/feedback/index.ts';
import { useNarrow } from '../../components/table/index.ts';
import { plural } from '../../format.ts';
import { useShownScheme } from '../../theme/scheme.ts';
import { BAND, bandsOf, dotted, ipv4 } from './bands.ts';
import classes from './discovery.module.css';
import { lookOf, OUTCOME_LOOKS } from './outcomes.ts';

/** Few rows are drawn higher: the picture fills its place. */
const heightFor = (bands: number): number => (bands <= 4 ? 40 : bands <= 12 ? 26 : 14);
const AROUND = 8;
/** Where there is little room, the addresses stand above their row. */
const LABEL = 16;

interface Pointed {
  x: number;
  y: number;
  address: ScanAddress;
}

interface AddressMapProps {
  scan: ScanDetail;
  /** Grows whenever the scan was read again. */
  at: number;
  onPick: (address: string) => void;
}

/**
 * Every address of a scan as a cell, 256 to a row, coloured and as high as it ended. Rows are read as they come into
 * view, and again while addresses in them are still to be probed.
 */
export function AddressMap({ scan, at, onPick }: AddressMapProps) {
  const bands = useMemo(() => bandsOf(scan.jobs, scan.targets), [scan.jobs, scan.targets]);
  const scroller = useRef<HTMLDivElement>(null);
  const height = heightFor(bands.length);
  const row = height + AROUND + (useNarrow() ? LABEL : 0);
  const [pointed, setPointed] = useState<Pointed>();
  const virtual = useVirtualizer({
    count: bands.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => row,
    overscan: 4,
    paddingStart: 8,
    paddingEnd: 8,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured anew when rows are of another height
  useEffect(() => virtual.measure(), [row]);
  if (bands.length === 0)
    return (
      <Empty title="No map">
        {scan.jobs.length === 0
          ? 'The scan has not been cut into jobs yet.'
          : 'Only IPv4 is drawn; the addresses are in the list.'}
      </Empty>
    );
  return (
    <div
      ref={scroller}
      className={classes.map}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must be able to do that
      tabIndex={0}
      role="img"
      aria-label={`Map of ${plural(bands.length, 'row')} of 256 addresses; the tab Addresses lists them`}
    >
      <div style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const band = bands[index];
          return (
            band !== undefined && (
              <div key={band} className={classes.band} style={{ top: start, height: row }}>
                <span>{dotted(band)}/24</span>
                <Band
                  scanId={scan.id}
                  band={band}
                  height={height}
                  at={at}
                  over={scan.finishedAt !== null}
                  onPoint={setPointed}
                  onPick={onPick}
                />
              </div>
            )
          );
        })}
      </div>
      {pointed && <Tip pointed={pointed} />}
    </div>
  );
}

function Tip({ pointed: { x, y, address } }: { pointed: Pointed }) {
  const look = lookOf(address.outcome);
  return (
    <div className={classes.tip} style={{ left: Math.min(x + 12, innerWidth - 332), top: y + 16 }}>
      <b>{address.address}</b> {look?.label}
      <div className="quiet">{address.note ?? look?.meaning}</div>
    </div>
  );
}

type Cells = readonly (ScanAddress | undefined)[];

function useBand(scanId: string, band: number, at: number, over: boolean): Cells | undefined {
  const { data, refetch } = useQuery({
    queryKey: ['sweep', scanId, band],
    queryFn: async ({ signal }): Promise<Cells> => {
      const query = { address: `${dotted(band)}/24`, pageSize: BAND };
      const { data } = await call('scans.addresses', { params: { scanId }, query }, { signal });
      const cells: (ScanAddress | undefined)[] = new Array(BAND).fill(undefined);
      for (const address of data) {
        const value = ipv4(address.address);
        if (value !== null) cells[value - band] = address;
      }
      return cells;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  const awaits = data?.some((cell) => cell?.code === '.') ?? false;
  const read = useRef({ at, over });
  useEffect(() => {
    if (!awaits || (read.current.at === at && read.current.over === over)) return;
    read.current = { at, over };
    // At the end once more, whatever is under way: it may have been asked before the last addresses were probed.
    void refetch({ cancelRefetch: over });
  }, [at, over, awaits, refetch]);
  return data;
}

interface BandProps {
  scanId: string;
  band: number;
  height: number;
  at: number;
  over: boolean;
  onPoint: (pointed: Pointed | undefined) => void;
  onPick: (address: string) => void;
}

function Band({ scanId, band, height, at, over, onPoint, onPick }: BandProps) {
  const cells = useBand(scanId, band, at, over);
  const { ref, width } = useElementSize<HTMLCanvasElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const colorScheme = useShownScheme();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours change with the scheme
  useEffect(() => {
    if (canvas.current && width > 0) draw(canvas.current, width, height, cells);
  }, [cells, width, height, colorScheme]);
  const cellAt = (event: MouseEvent<HTMLCanvasElement>): ScanAddress | undefined => {
    const box = event.currentTarget.getBoundingClientRect();
    return cells?.[Math.floor(((event.clientX - box.left) / box.width) * BAND)];
  };
  return (
    <canvas
      ref={(element) => {
        canvas.current = element;
        ref(element);
      }}
      style={{ height }}
      aria-busy={cells === undefined}
      onMouseMove={(event) => {
        const address = cellAt(event);
        onPoint(address && { x: event.clientX, y: event.clientY, address });
      }}
      onMouseLeave={() => onPoint(undefined)}
      onClick={(event) => {
        const address = cellAt(event);
        if (address) onPick(address.address);
      }}
    />
  );
}

function draw(canvas: HTMLCanvasElement, width: number, height: number, cells: Cells | undefined): void {
  const scale = devicePixelRatio;
  canvas.width = Math.round(width * scale);
  canvas.height = height * scale;
  const paper = canvas.getContext('2d');
  if (!paper) return;
  const style = getComputedStyle(document.documentElement);
  const colours = new Map(OUTCOME_LOOKS.map(({ code, colour }) => [code, style.getPropertyValue(colour)]));
  const step = canvas.width / BAND;
  const gap = step >= 4 * scale ? scale : step >= 2.4 ? 1 : 0;
  for (let i = 0; i < BAND; i += 1) {
    const cell = cells?.[i];
    const look = cell && lookOf(cell.outcome);
    if (!look) continue;
    const left = Math.round(i * step);
    const high = Math.max(1, Math.round(canvas.height * look.height));
    paper.fillStyle = colours.get(look.code) ?? 'gray';
    paper.fillRect(left, canvas.height - high, Math.max(1, Math.round((i + 1) * step) - left - gap), high);
  }
}
