import { FREE_DAYS } from '@rollcall/shared/api/free-ports';
import { Link } from '@tanstack/react-router';
import { type KeyboardEvent, useRef, useState } from 'react';
import { Panel } from '../../../components/page/index.ts';
import { useNow } from '../../../components/show/index.ts';
import { bitrate, plural } from '../../../format.ts';
import { connectedText } from './connected.tsx';
import classes from './face-plate.module.css';
import { type Port, plateOf, type Socket, type SocketState, socketBy, type Unit } from './plate.ts';

/** Of a socket and the space around it, in pixels. */
const WIDTH = 22;
const HEIGHT = 17;
const GAP = 4;
const BLOCK_GAP = 12;
const EDGE = 8;
const LABEL = 22;

const STATES: readonly [state: SocketState, says: string][] = [
  ['up', 'up'],
  ['down', 'down'],
  ['free', `free: not used for ${plural(FREE_DAYS, 'day')}`],
  ['disabled', 'disabled'],
];
const SAYS = new Map(STATES);

/** The ports of a box where they are on it. Arrow keys go from one to the next. */
export function FacePlate({ ports }: { ports: readonly Port[] }) {
  const now = Math.floor(useNow() / 60_000) * 60;
  const units = plateOf(ports, now);
  const sockets = units.flatMap((unit) => unit.sockets);
  const [active, setActive] = useState(0);
  const box = useRef<HTMLElement>(null);
  if (sockets.length < 2) return null;
  const onKeyDown = (event: KeyboardEvent) => {
    const next = socketBy(units, active, event.key);
    if (next === active) return;
    event.preventDefault();
    setActive(next);
    box.current?.querySelectorAll('a')[next]?.focus();
  };
  let before = 0;
  return (
    <Panel title="Ports" note={plural(sockets.length, 'port')} end={<Legend sockets={sockets} />}>
      <nav ref={box} className={classes.box} aria-label="Ports of the device" onKeyDown={onKeyDown}>
        {units.map((unit) => {
          const first = before;
          before += unit.sockets.length;
          return (
            <UnitPlate
              key={unit.name}
              unit={unit}
              named={units.length > 1}
              active={active - first}
              onFocus={(i) => setActive(first + i)}
            />
          );
        })}
      </nav>
    </Panel>
  );
}

function UnitPlate({
  unit,
  named,
  active,
  onFocus,
}: {
  unit: Unit;
  named: boolean;
  active: number;
  onFocus: (i: number) => void;
}) {
  const left = EDGE + (named ? LABEL : 0);
  const rows = Math.max(...unit.sockets.map(({ row }) => row)) + 1;
  const width = left + unit.columns * (WIDTH + GAP) + (unit.blocks - 1) * BLOCK_GAP + EDGE;
  const height = EDGE * 2 + rows * (HEIGHT + GAP) - GAP;
  return (
    <svg className={classes.plate} width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
      <title>{named ? `Unit ${unit.name}` : 'Chassis'}</title>
      <rect className={classes.body} x={0.5} y={0.5} width={width - 1} height={height - 1} rx={4} />
      {named && (
        <text className={classes.unit} x={EDGE} y={height / 2} dominantBaseline="central">
          {unit.name}
        </text>
      )}
      {unit.sockets.map((socket, i) => (
        <SocketLink
          key={socket.port.id}
          socket={socket}
          left={left}
          reachable={i === active}
          onFocus={() => onFocus(i)}
        />
      ))}
    </svg>
  );
}

function SocketLink({
  socket: { port, state, column, row, block },
  left,
  reachable,
  onFocus,
}: {
  socket: Socket;
  left: number;
  reachable: boolean;
  onFocus: () => void;
}) {
  const x = left + column * (WIDTH + GAP) + block * BLOCK_GAP;
  const y = EDGE + row * (HEIGHT + GAP);
  const words = wordsOf(port, state);
  return (
    <Link
      to="."
      search={{ tab: 'performance', interface: port.id }}
      className={classes.socket}
      data-state={state}
      aria-label={words}
      tabIndex={reachable ? 0 : -1}
      onFocus={onFocus}
    >
      <title>{words}</title>
      <rect x={x + 0.5} y={y + 0.5} width={WIDTH - 1} height={HEIGHT - 1} rx={2} />
      {state === 'disabled' && <path d={`M${x + 4} ${y + HEIGHT - 4}L${x + WIDTH - 4} ${y + 4}`} />}
      {port.neighbour && <circle cx={x + WIDTH / 2} cy={y + HEIGHT / 2} r={3} />}
    </Link>
  );
}

function wordsOf(port: Port, state: SocketState): string {
  const connected = connectedText(port);
  return [
    `${port.name}: ${SAYS.get(state)}`,
    state === 'up' && port.speedBps ? bitrate(port.speedBps) : '',
    port.alias ?? '',
    connected,
  ]
    .filter(Boolean)
    .join(', ');
}

/** How many there are of each state: what the colours say, in words. */
function Legend({ sockets }: { sockets: readonly Socket[] }) {
  const linked = sockets.filter(({ port }) => port.neighbour).length;
  return (
    <ul className={classes.legend}>
      {STATES.map(([state, says]) => {
        const count = sockets.filter((socket) => socket.state === state).length;
        return (
          count > 0 && (
            <li key={state}>
              <i data-state={state} aria-hidden /> {count} {says}
            </li>
          )
        );
      })}
      {linked > 0 && (
        <li>
          <i data-state="link" aria-hidden /> {linked} to a neighbour
        </li>
      )}
    </ul>
  );
}
