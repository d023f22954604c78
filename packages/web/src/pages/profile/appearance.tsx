import { type MantineColorScheme, SegmentedControl, Select } from '@mantine/core';
import { useSiteChoices } from '../../choices.ts';
import { Panel } from '../../components/page/index.ts';
import { absolute, ago, useNow } from '../../components/show/index.ts';
import { savePreferences, usePreferences } from '../../preferences.ts';
import { useScheme } from '../../theme/scheme.ts';
import classes from './profile.module.css';

const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
const ZONES = [
  { value: 'local', label: `Of this computer (${here})` },
  { value: 'UTC', label: 'UTC' },
  ...Intl.supportedValuesOf('timeZone')
    .filter((zone) => zone !== 'UTC')
    .map((zone) => ({ value: zone, label: zone })),
];

/** Theme, times and the default site; kept with the account, on every computer. */
export function Appearance() {
  const { times, zone, defaultSite } = usePreferences();
  const sites = useSiteChoices();
  const { colorScheme, choose } = useScheme();
  const now = useNow();
  const example = Math.floor(now / 1000) - 187;
  return (
    <Panel title="Preferences" note="kept with your account">
      <div className={classes.choices}>
        <span id="theme">Theme</span>
        <SegmentedControl
          aria-labelledby="theme"
          data={[
            { value: 'auto', label: 'As the system' },
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
          ]}
          value={colorScheme}
          onChange={(value) => choose(value as MantineColorScheme)}
        />
        <span id="times">Times</span>
        <SegmentedControl
          aria-labelledby="times"
          data={[
            { value: 'relative', label: ago(example, now) },
            { value: 'absolute', label: absolute(example, zone) },
          ]}
          value={times}
          onChange={(value) => savePreferences({ times: value === 'absolute' ? 'absolute' : 'relative' })}
        />
        <label htmlFor="zone">Time zone</label>
        <Select
          id="zone"
          searchable
          limit={60}
          data={ZONES}
          value={zone}
          onChange={(value) => value && savePreferences({ zone: value })}
        />
        <label htmlFor="site">Default site</label>
        <Select
          id="site"
          searchable
          clearable
          placeholder="The first one"
          description="For scans by the API that name no site, where several sites have the targets in their networks."
          inputWrapperOrder={['label', 'input', 'description']}
          data={sites}
          value={defaultSite || null}
          onChange={(value) => savePreferences({ defaultSite: value ?? '' })}
        />
      </div>
    </Panel>
  );
}
