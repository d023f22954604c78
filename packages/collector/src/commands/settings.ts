/** `settings`: checks the file and the environment, and prints what is in force. */
import { readConfig } from '../platform/config.ts';

export interface SettingsFlags {
  config?: string;
  json: boolean;
}

export async function runSettings(flags: SettingsFlags): Promise<number> {
  const settings = await readConfig(process.env, flags.config);
  const shown = { ...settings, allow: settings.allow?.map(String), deny: settings.deny.map(String) };
  const lines = Object.entries(shown).map(
    ([name, value]) => `${name.padEnd(12)}${value === undefined ? '-' : JSON.stringify(value)}`,
  );
  process.stdout.write(flags.json ? `${JSON.stringify(shown)}\n` : `${lines.join('\n')}\n`);
  return 0;
}
