import { ActionIcon, Checkbox, Select, Switch } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconDeviceTvOld, IconShare } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Result } from '../../api.ts';
import { useSiteChoices } from '../../choices.ts';
import { IconButton } from '../../components/controls/index.ts';
import { Dialog, Form, SecretDialog } from '../../components/form/index.ts';
import { Page, Panel } from '../../components/page/index.ts';
import { savePreferences } from '../../preferences.ts';
import { stringifySearch } from '../../search.ts';
import { useUrlState } from '../../url-state.ts';
import { useSend } from '../../use-action.ts';
import { WALL_PANELS } from './panels.tsx';
import { PANELS, type PanelName, type WallSettings, writeWall } from './settings.ts';
import classes from './wall.module.css';

const TURNS = [
  { value: '0', label: 'all at once' },
  { value: '15', label: 'one at a time, 15 s each' },
  { value: '30', label: 'one at a time, 30 s each' },
  { value: '60', label: 'one at a time, 1 min each' },
];

/** Which panels a wall has, in which order, and how it says that something new is wrong. */
export function Arrange({ settings }: { settings: WallSettings }) {
  const { change } = useUrlState('/wall');
  const navigate = useNavigate();
  const sites = useSiteChoices();
  const [sharing, setSharing] = useState(false);
  const { panels, rotate, sound, site } = settings;
  const set = (next: Partial<WallSettings>) => {
    const search = writeWall({ ...settings, ...next });
    savePreferences({ wall: stringifySearch({ ...search }).slice(1) });
    change(search, true);
  };
  const move = (name: PanelName, by: number) => {
    const at = panels.indexOf(name);
    const next = panels.filter((one) => one !== name);
    next.splice(at + by, 0, name);
    set({ panels: next });
  };
  const order = [...panels, ...PANELS.filter((name) => !panels.includes(name))];
  return (
    <Page
      title="Wall"
      actions={
        <>
          <IconButton icon={IconShare} onClick={() => setSharing(true)}>
            Share
          </IconButton>
          <IconButton
            variant="filled"
            icon={IconDeviceTvOld}
            onClick={() => void navigate({ to: '/wall', search: writeWall(settings) as never })}
          >
            Show the wall
          </IconButton>
        </>
      }
    >
      <Panel title="Panels" note="in this order">
        {order.map((name) => {
          const at = panels.indexOf(name);
          const { title } = WALL_PANELS[name];
          return (
            <div key={name} className={classes.choice}>
              <Checkbox
                label={title}
                checked={at >= 0}
                disabled={at >= 0 && panels.length === 1}
                onChange={() =>
                  set({ panels: at >= 0 ? panels.filter((one) => one !== name) : [...panels, name] })
                }
              />
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`${title}: earlier`}
                disabled={at <= 0}
                onClick={() => move(name, -1)}
              >
                <IconArrowUp size={15} />
              </ActionIcon>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`${title}: later`}
                disabled={at < 0 || at === panels.length - 1}
                onClick={() => move(name, 1)}
              >
                <IconArrowDown size={15} />
              </ActionIcon>
            </div>
          );
        })}
      </Panel>
      <Panel title="Screen">
        <div className={classes.screen}>
          <Select
            label="Panels are shown"
            data={TURNS}
            value={String(rotate)}
            onChange={(value) => set({ rotate: Number(value) })}
          />
          <Select
            label="Site"
            clearable
            placeholder="All sites"
            data={sites}
            value={site ?? null}
            onChange={(value) => set({ site: value ?? undefined })}
          />
          <Switch
            label="Sound and desktop notification when there are new open events"
            checked={sound}
            onChange={(event) => {
              if (event.currentTarget.checked && 'Notification' in window)
                void Notification.requestPermission();
              set({ sound: event.currentTarget.checked });
            }}
          />
        </div>
      </Panel>
      {sharing && <Share settings={settings} onClose={() => setSharing(false)} />}
    </Page>
  );
}

/** A link that needs no sign-in: it reads what a viewer may, of the wall's site, until it is revoked. */
function Share({ settings, onClose }: { settings: WallSettings; onClose: () => void }) {
  const [made, setMade] = useState<Result<'tokens.create'>>();
  const send = useSend();
  const sites = useSiteChoices();
  const place = sites.find(({ value }) => value === settings.site)?.label ?? 'all sites';
  if (made)
    return (
      <SecretDialog
        title="The link to this wall"
        label="Link"
        secret={`${location.origin}/wall${stringifySearch({ ...writeWall(settings) })}#${made.token}`}
        note={`Revoke it under Profile, API tokens: ${made.data.name}.`}
        onClose={onClose}
      />
    );
  return (
    <Dialog title="Share this wall?" onClose={onClose}>
      <Form
        submit="Create a link"
        onCancel={onClose}
        onSubmit={async () => {
          const siteIds = settings.site ? [settings.site] : [];
          const body = { name: `wall of ${place}`, readOnly: true, siteIds };
          setMade(await send('tokens.create', { body }));
        }}
      >
        <p>
          Anyone who has the link sees what a viewer of {place} sees, without signing in, and changes nothing.
          It works until you revoke it.
        </p>
      </Form>
    </Dialog>
  );
}
