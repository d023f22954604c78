import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Change } from '../../changes.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { Scene } from '../../testing/incident-scene.ts';

afterAll(closeDatabases);

describe.each(databases())('packet loss of a device on %s', (_name, open) => {
  const scene = new Scene();
  const { network, about, tell, down, up, wait, words } = scene;
  beforeEach(async () => {
    await scene.begin(open);
    await network(['host']);
  });
  const loss = (kind: 'measured.above' | 'measured.below', value: number) =>
    ({
      ...about('host'),
      kind,
      before: {},
      after: { of: 'loss', value, limit: 20 },
    }) as Change;
  /** Away for so many seconds. */
  const away = async (seconds: number) => {
    await tell(down('host'));
    await wait(seconds);
    await tell(up('host'));
  };

  it('is told when it lasted for five minutes', async () => {
    await tell(loss('measured.above', 60));
    await wait(290);
    expect(await words()).toEqual([]);
    await wait(20);
    expect(await words()).toEqual(['device.loss host open']);
  });

  it('lasts anew from when the device was back', async () => {
    await tell(loss('measured.above', 60));
    await away(180);
    await wait(280);
    expect(await words()).toEqual(['device.down host closed']);
    await wait(40);
    expect(await words()).toEqual(['device.down host closed', 'device.loss host open']);
  });

  it('is not told where it ends within five minutes of that', async () => {
    await tell(loss('measured.above', 60));
    await away(180);
    await wait(140);
    await tell(loss('measured.below', 0));
    await wait(400);
    expect(await words()).toEqual(['device.down host closed']);
  });

  it('lasts on over a fall too short to be told', async () => {
    await tell(loss('measured.above', 60));
    await wait(200);
    await away(5);
    await wait(110);
    expect(await words()).toEqual(['device.loss host open']);
  });
});
