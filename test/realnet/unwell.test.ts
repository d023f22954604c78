import { execFileSync } from 'node:child_process';
import { enterOwnNetwork } from '@rollcall/host/testing/own-network';
import type { Sensor } from '@rollcall/shared/api/sensors';
import { skipped } from '@rollcall/shared/testing/skipped';
import { haveSnmpd } from '@rollcall/snmp/testing/snmpd';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../system/harness.ts';
import { type Member, Plant } from '../system/plant.ts';
import { Box } from './box.ts';

/**
 * What Debian's snmpd says of the health of a server, from its own sources to what people are told of it:
 *
 * - a file system of the box, which the test fills and empties: hrStorageTable (HOST-RESOURCES-MIB);
 * - temperature, fan and voltage of an hwmon device: LM-SENSORS-MIB, which snmpd reads by libsensors. The files of the device
 *   are written by the test, in the place where the kernel has them, because no virtual machine has such a device;
 * - the load of processors and a temperature with limits as Dell's agent shows it (MIB-Dell-10892): by `override` of snmpd.
 *   The load of the machine that runs the tests is no matter of the test.
 *
 * Sensors are read every five minutes; a collector that starts reads them at once. So the test starts it anew where it waits
 * for a reading. That a processor is busy is told after ten minutes: here it is only read, `judge.test.ts` has the rest.
 */
const possible = haveSnmpd() && enterOwnNetwork();
if (!possible) skipped('the health of a real server: be root, install iproute2, snmp and snmpd');

const NAME = 'unwell';
const [NEAR, ADDRESS] = ['10.9.1.1', '10.9.1.2'];
/** Of the machine, mounted over in the box. */
const DISK = '/srv';
const MB = 2 ** 20;
const DISK_BYTES = 32 * MB;

/** HOST-RESOURCES-MIB (RFC 2790). */
const STORAGE = '1.3.6.1.2.1.25.2';
const STORAGE_DESCR = `${STORAGE}.3.1.3`;
const STORAGE_UNITS = `${STORAGE}.3.1.4`;
const STORAGE_USED = `${STORAGE}.3.1.6`;
const PROCESSOR_FIRMWARE = '1.3.6.1.2.1.25.3.3.1.1';
const PROCESSOR_LOAD = '1.3.6.1.2.1.25.3.3.1.2';
/** UCD-SNMP-MIB: the memory of the machine. */
const UCD_MEMORY = '1.3.6.1.4.1.2021.4';
/** MIB-Dell-10892, temperatureProbeEntry: tenths of a degree. */
const PROBE = '1.3.6.1.4.1.674.10892.1.700.20.1';
const PROBE_READING = `${PROBE}.6.1.1`;
/** Of a row of any column of hrStorageTable: all arcs but the column. */
const ANY_COLUMN = 'ff:df';

/** What hwmon of the kernel shows: millidegrees, rpm, millivolts. A chip that sensors3.conf gives no other labels. */
const HWMON = {
  name: 'nct6687',
  temp1_input: '45000',
  temp1_label: 'Core 0',
  fan1_input: '0',
  fan1_label: 'Rear fan',
  in0_input: '3300',
  in0_label: '+3.3V',
};

class Server implements Member {
  readonly sysName = NAME;
  readonly address = ADDRESS;
  readonly #box: Box;
  #disk = '';
  #processors: string[] = [];

  private constructor(box: Box) {
    this.#box = box;
  }

  static async boot(): Promise<Server> {
    const box = await Box.boot(NAME);
    box.cableOut('eth0', 'unwell0');
    execFileSync('ip', ['addr', 'add', `${NEAR}/24`, 'dev', 'unwell0']);
    box.ip(`addr add ${ADDRESS}/24 dev eth0`);
    box.exec('mount', '-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', DISK);
    box.exec('mount', '-t', 'tmpfs', 'tmpfs', '/sys/class');
    box.exec('mkdir', '-p', '/sys/class/hwmon/hwmon0');
    for (const [file, text] of Object.entries(HWMON))
      box.write(`/sys/class/hwmon/hwmon0/${file}`, `${text}\n`);
    return new Server(box);
  }

  /** Twice: which rows are the box's own is known when its agent has numbered them. */
  startSnmpd(): void {
    this.#start('rocommunity public\n');
    const disks = this.#walk(STORAGE_DESCR);
    this.#disk = disks.find(([, mount]) => mount === DISK)?.[0] ?? expect.fail(`no ${DISK} among ${disks}`);
    this.#processors = this.#walk(PROCESSOR_FIRMWARE).map(([index]) => index);
    this.#box.end('snmpd');
    this.#start(`view own included .1
view own excluded .${STORAGE}
view own included .${STORAGE}.3.1.1.${this.#disk} ${ANY_COLUMN}
view own excluded .${UCD_MEMORY}
rocommunity public default -V own
rwcommunity private 127.0.0.1
${this.#processors.map((index) => `override -rw ${PROCESSOR_LOAD}.${index} integer 20\n`).join('')}
override ${PROBE}.8.1.1 octet_str Inlet
override -rw ${PROBE_READING} integer 240
override ${PROBE}.10.1.1 integer 470
override ${PROBE}.11.1.1 integer 420
`);
    expect(this.#walk(STORAGE_DESCR)).toEqual([[this.#disk, DISK]]);
  }

  #start(conf: string): void {
    this.#box.write('/run/snmpd.conf', conf);
    this.#box.daemon(
      'snmpd',
      '-Lf',
      '/run/snmpd.log',
      '-C',
      '-c',
      '/run/snmpd.conf',
      '-I',
      '-smux',
      'udp:161',
    );
  }

  #walk(column: string): [index: string, value: string][] {
    const said = this.#box.exec('snmpbulkwalk', '-v2c', '-cpublic', '-Onq', '127.0.0.1', column);
    return said
      .trim()
      .split('\n')
      .map((line) => {
        const [oid = '', ...value] = line.split(' ');
        return [oid.slice(column.length + 2), value.join(' ').replace(/^"|"$/g, '')];
      });
  }

  get processors(): number {
    return this.#processors.length;
  }
  load(percent: number): void {
    for (const index of this.#processors) this.#set(`${PROCESSOR_LOAD}.${index}`, percent);
  }
  inlet(celsius: number): void {
    this.#set(PROBE_READING, celsius * 10);
  }
  #set(oid: string, value: number): void {
    this.#box.exec('snmpset', '-v2c', '-cprivate', '127.0.0.1', oid, 'i', String(value));
  }

  /** Writes so much to its disk, or empties it, and waits for its agent to show that: it keeps what it read for a while. */
  async fill(megabytes: number): Promise<void> {
    this.#box.exec(
      'sh',
      '-c',
      megabytes ? `head -c ${megabytes * MB} /dev/zero > ${DISK}/log` : `rm ${DISK}/log`,
    );
    const own = (column: string) => Number.parseInt(this.#walk(column)[0]?.[1] ?? '', 10);
    const bytes = () => own(STORAGE_USED) * own(STORAGE_UNITS);
    await until(60_000, 'its agent shows the disk as it is', async () => bytes() === megabytes * MB);
  }

  remove = (): Promise<void> => this.#box.remove();
}

describe.skipIf(!possible)('the health of a real server', () => {
  let server: Server;
  let plant: Plant<Server>;

  beforeAll(async () => {
    server = await Server.boot();
    plant = new Plant([server]);
    await plant.discover();
    await plant.watch();
  }, 120_000);
  afterAll(() => plant?.stop());

  const sensors = () => plant.world.all<Sensor>(`/api/sensors?deviceId=${plant.id(NAME)}`);
  /** `name value unit health`, what is wrong first. */
  const shown = async () =>
    (await sensors()).map(({ name, kind, value, unit, health }) =>
      [kind === 'processor' ? 'processor' : name, value, unit, health].join(' '),
    );
  const unhealthy = async () =>
    (await plant.world.all<{ name: string; health: string }>('/api/devices?health=critical,warning')).map(
      ({ name, health }) => `${name} ${health}`,
    );
  const readAgain = async () => {
    await plant.collector.stop();
    plant.collector.start();
  };
  const poll = (ask: () => Promise<unknown>) => expect.poll(ask, { timeout: 90_000, interval: 300 });
  const open = async () =>
    (await plant.openEvents()).map(({ kind, message }) => `${kind}: ${message}`).sort();
  const processors = (load: number) => Array<string>(server.processors).fill(`processor ${load} % ok`);

  it('has the kinds, units and names of its sensors, and none of the machine', async () => {
    await poll(async () => (await shown()).sort()).toEqual(
      [
        ...processors(20),
        `${DISK} 0 % ok`,
        'Inlet temperature 24 °C ok',
        'Core 0 temp 45 °C unknown',
        'Rear fan 0 rpm unknown',
        '+3.3V volt 3.3 V unknown',
      ].sort(),
    );
    expect(await unhealthy()).toEqual([]);
  }, 100_000);

  it('a full disk and a part that is too warm: told by their names and values, what is worse first', async () => {
    await server.fill(31);
    server.inlet(49);
    server.load(97);
    await readAgain();
    await poll(async () => (await shown()).slice(0, 2)).toEqual([
      'Inlet temperature 49 °C critical',
      `${DISK} 96.875 % warning`,
    ]);
    const busy = (await sensors()).filter(({ kind }) => kind === 'processor');
    expect(busy.map(({ value, health }) => [value, health])).toEqual(busy.map(() => [97, 'ok']));
    // The agent describes all of them alike.
    expect(new Set(busy.map(({ name }) => name)).size).toBe(server.processors);
    expect(await unhealthy()).toEqual([`${NAME} critical`]);
    await poll(open).toEqual([
      `sensor.critical: Inlet temperature of ${NAME}: 49 °C, above its critical limit of 47 °C`,
      `storage.full: ${DISK} of ${NAME}: 96.9 % in use, limit of 95 % reached`,
    ]);
    expect(await plant.cases()).toMatchObject([
      { rootDeviceId: plant.id(NAME), status: 0, openEventCount: 2 },
    ]);
  }, 200_000);

  it('is well again when the file is deleted and the air is cool', async () => {
    await server.fill(0);
    server.inlet(24);
    server.load(20);
    await readAgain();
    await poll(open).toEqual([]);
    await poll(async () => (await plant.cases()).map(({ status }) => status)).toEqual([2]);
    expect(await unhealthy()).toEqual([]);
    expect(
      (await plant.events())
        .filter(({ caseId }) => caseId)
        .map(({ kind }) => kind)
        .sort(),
    ).toEqual(['sensor.critical', 'storage.full']);
  }, 200_000);
});
