import { Button } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { apiQuery } from '../../api.ts';
import { useSiteName } from '../../choices.ts';
import { Loaded } from '../../components/feedback/index.ts';
import { Scroller } from '../../components/page/index.ts';
import { usePreferences } from '../../preferences.ts';
import { parseSearch } from '../../search.ts';
import { useUrlState } from '../../url-state.ts';
import { useEscape } from '../../use-escape.ts';
import { wallToken } from '../../wall-token.ts';
import { useAlarm } from './alarm.ts';
import { Arrange } from './arrange.tsx';
import { stateOf } from './mood.ts';
import { type PanelProps, WALL_PANELS } from './panels.tsx';
import { type PanelName, readWall, type WallSettings } from './settings.ts';
import classes from './wall.module.css';

/** A wall to be read from three metres; `edit` arranges it. */
export function WallPage() {
  const { search } = useUrlState('/wall');
  const { wall } = usePreferences();
  const settings = readWall(search.panels ? search : parseSearch(wall));
  return search.edit === '1' ? <Arrange settings={settings} /> : <Wall settings={settings} />;
}

function Wall({ settings }: { settings: WallSettings }) {
  const { site, panels, rotate, sound } = settings;
  const summary = useQuery(apiQuery('summary.get', { query: { site } }));
  const state = summary.data && stateOf(summary.data.data);
  const { blocked, allow } = useAlarm(state?.open, sound);
  const shown = useTurns(panels, rotate);
  const siteName = useSiteName();
  useDocumentTitle(`${state?.open ? `(${state.open}) ` : ''}Wall · Rollcall`);
  const navigate = useNavigate();
  useEscape(
    () => void navigate({ to: '/wall', search: ((old: object) => ({ ...old, edit: '1' })) as never }),
    wallToken === undefined,
  );
  return (
    <Scroller label="Wall" className={classes.window}>
      <div className={classes.wall} data-mood={state?.mood}>
        <h1 className="hidden">Wall{site && ` of ${siteName(site)}`}</h1>
        {blocked && (
          <Button className={classes.allow} onClick={allow}>
            Turn the sound on
          </Button>
        )}
        <Loaded query={summary}>
          {({ data }) => (
            <div className={classes.panels}>
              {shown.map((name) => (
                <WallPanel key={name} name={name} site={site} summary={data} />
              ))}
            </div>
          )}
        </Loaded>
      </div>
    </Scroller>
  );
}

function WallPanel({ name, ...props }: PanelProps & { name: PanelName }) {
  const { title, Panel } = WALL_PANELS[name];
  return (
    <section className={classes.panel} aria-label={title} data-panel={name}>
      <h2>{title}</h2>
      <Panel {...props} />
    </section>
  );
}

/** All panels, or one after the other; the state stays where there are others to turn through. */
function useTurns(panels: readonly PanelName[], seconds: number): readonly PanelName[] {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (seconds === 0) return;
    const timer = setInterval(() => setTurn((was) => was + 1), seconds * 1000);
    return () => clearInterval(timer);
  }, [seconds]);
  if (seconds === 0) return panels;
  const fixed: readonly PanelName[] = panels.length > 1 ? panels.filter((name) => name === 'state') : [];
  const turning = panels.filter((name) => !fixed.includes(name));
  const next = turning[turn % turning.length];
  return next ? [...fixed, next] : fixed;
}
