// Figures of the evaluator as docs/accuracy.md shows them.

/** Share that is aimed at, percent. */
const AIMS = {
  sysName: 100,
  vendor: 97,
  class: 94,
  'class (router or switch, labelled)': 90,
  os: 95,
  model: 85,
  'model (stated in recording)': 95,
  version: 88,
  'version (stated in recording)': 96,
  serial: 92,
  'serial (stated in recording)': 97,
};
const INTERFACES_AIM = 99.5;
const FIELD_AIM = 99;

/** `{ name, right, counted, aim }` of everything that is scored. */
export function figuresOf(score) {
  const fields = Object.entries(score.fields).map(([name, { right, counted }]) => ({
    name,
    right,
    counted,
    aim: AIMS[name],
  }));
  const interfaces = Object.entries(score.interfaces).flatMap(([truth, i]) => [
    { name: `interface count (${truth})`, right: i.countRight, counted: i.records, aim: INTERFACES_AIM },
    { name: `interfaces found (${truth})`, right: i.found, counted: i.expected, aim: INTERFACES_AIM },
    { name: `invented interfaces (${truth})`, right: i.invented, counted: null, aim: 0 },
    ...Object.entries(i.fields).map(([name, { right, counted }]) => ({
      name: `${name} (${truth})`,
      right,
      counted,
      aim: FIELD_AIM,
    })),
  ]);
  return [
    ...fields,
    ...interfaces,
    {
      name: 'addresses',
      right: score.ipAddresses.found,
      counted: score.ipAddresses.expected,
      aim: FIELD_AIM,
    },
    { name: 'neighbours', right: score.neighbours.found, counted: score.neighbours.expected, aim: 95 },
  ];
}

/**
 * The figures of `evaluate-health.mjs`: shares found are the mean over devices, as a sum of shares.
 * @param withoutHandMade the score without the objects that people added to the facts
 */
export function healthFigures({ rows, additional }, withoutHandMade) {
  const mean = (name, row, aim) => ({ name, right: Math.round(row.recall), counted: row.devices, aim });
  const right = (name, row, aim) => ({ name, right: row.value, counted: row.found, aim });
  const measured = rows['sensor MEASURED'];
  const all = rows['sensor ALL'];
  const invented = Object.values(additional).reduce((sum, each) => sum + each.invented, 0);
  return [
    { name: 'measured sensors found', right: measured.found, counted: measured.truth },
    mean('measured sensors found, mean of devices', measured, 92),
    mean('the same without objects added by hand', withoutHandMade.rows['sensor MEASURED']),
    right('value right, of those found', measured, 98),
    { name: 'limits right, of those found', right: measured.limitsRight, counted: measured.limits, aim: 95 },
    { name: 'status of states right, of those found', right: all.status, counted: all.statusN, aim: 95 },
    mean('processors found, mean of devices', rows.processor, 97),
    right('load right, of those found', rows.processor, 97),
    mean('memory found, mean of devices', rows['memory ALL'], 95),
    right('memory right, of those found', rows['memory ALL'], 95),
    mean('storage found, mean of devices', rows['storage ALL'] ?? rows.storage, 95),
    right('storage right, of those found', rows['storage ALL'] ?? rows.storage, 95),
    { name: 'invented sensors', right: invented, counted: null, aim: 0 },
  ];
}

/** What is worth measuring where no rule knows the device: `{ name, right, counted }`, named by the way of measuring. */
export const unseenFigures = (score, way) =>
  ['vendor', 'class', 'os', 'model', 'version', 'serial'].map((name) => ({
    name: `${name}, ${way}`,
    right: score.fields[name].right,
    counted: score.fields[name].counted,
  }));

/** Two scores side by side, as a table of text. */
export function beside(seen, unseen) {
  const share = ({ right, counted }) => `${right}/${counted} ${percent({ right, counted })} %`.padStart(18);
  const fields = ['vendor', 'class', 'os', 'model', 'version', 'serial'].flatMap((name) =>
    [name, `${name} (stated in recording)`].filter((each) => each in seen.fields),
  );
  return [
    `${''.padEnd(30)}${'seen'.padStart(18)}${'unseen families'.padStart(18)}`,
    ...fields.map((name) => `${name.padEnd(30)}${share(seen.fields[name])}${share(unseen.fields[name])}`),
  ].join('\n');
}

/** Figures with an aim that they miss, with their share in percent. */
export const belowAim = (figures) =>
  figures
    .filter(({ right, counted, aim }) =>
      aim === undefined ? false : counted === null ? right > aim : 100 * right < aim * counted,
    )
    .map((figure) => ({ ...figure, share: figure.counted === null ? figure.right : percent(figure) }));

const percent = ({ right, counted }) => (counted ? ((100 * right) / counted).toFixed(1) : '');

/** Name → right, out of a document that `report` made. */
export function figuresIn(document) {
  const rows = [...document.matchAll(/^\| ([^|]+?) +\| +(\d+) \|/gm)];
  return new Map(rows.map(([, name, right]) => [name, Number(right)]));
}

export const report = ({ figures, unseen, unknown, health, recordings, seconds }) => `# Accuracy

How well Rollcall identifies and classifies recordings of real devices, measured by \`npm run corpus:report\`, which writes this file.
\`npm run corpus:check\` measures again and fails where a figure is lower than here.

${recordings} recordings that many people made for other projects are replayed, each by an SNMP agent on an address of
its own. A collector sweeps and walks them with the profile \`deep\` over UDP, a server with the embedded database
identifies and classifies them, and the answers of the REST API are compared with the values that those projects state. A few
of these values are placeholders or mistakes, so 100 % cannot be reached for model, version and class. "Stated" counts only
values that are literally in the recording; the others come from product tables.

Identity is decided within a site, and some recordings are of the same device: with another firmware, cloned, or with the same
serial number after anonymising. So the recordings are spread over sites of about a hundred. Those that the server still
merges are played again, each at another site. ${seconds ? `All of it took ${seconds} s here, on 2 cores.` : ''}

\`npm run corpus -- DIR > results.jsonl\` does the same for recordings of your own (\`.snmprec\`, \`.snmprec.gz\`).

${table(figures)}

## Families of devices that no rule was written for

The recordings are of families (an operating system or a line of products). Here each half of the families is classified without what was written for it:
without the rules that hold for no recording of the other half, and without the names and classes of makers (\`vendors.yaml\`) that
only the half itself has. The catalogue of MIB facts and the readers of sysDescr stay, because they are of no family. \`npm run corpus -- --unseen DIR\`
prints these figures beside those with all rules, in half a minute and without a network. Expect them for a product that is in no recording.

Class, vendor and system are lowest because a maker's name and usual class stand in \`vendors.yaml\`, which has most makers that MIBs are known of, and
the half is without those that only it has; and a third of the systems are told nowhere but by the sysObjectID. What stands in no object
of a recording cannot be read: of most only what one project polls was recorded. Where the list of classes has no place for a device
(time servers, console servers), it counts as wrong.

${table(unseen)}

## Devices of makers that no rule knows

The same recordings without the rules that name a maker. The rest applies to all devices: the table of enterprise numbers,
standard MIBs, the catalogue, the text of sysDescr, and the sample of a maker's own objects. Expect this for a device without a rule.

${table(unknown)}

## Health

Sensors, processors, memory and storage of the same recordings as the collector reads them, compared with what other projects state.
\`npm run corpus -- --health DIR\` prints it by kind, in ten seconds and without a network. "Measured" are sensors with a value that is
neither a count nor of a radio. What is found is the mean over devices, because a few devices have hundreds of sensors. The catalogue is
derived from MIBs and of no family; what people wrote by hand is in \`scripts/catalogue/guess.mjs\` and \`packages/collector/src/walk/sensors\`,
and the plausibility of scales was chosen on these recordings. The stated values have mistakes as well: LibreNMS reads some scales and kinds
otherwise than the MIB, and lists sensors that are no health (error ratios, delays, packet loss), which are not read here. "Without objects added by hand" is what
to expect of a maker that nobody looked at: the facts of MIBs and what their names say, alone.

What is missed, in devices of the 330: 9 of kinds that are no health or have no place here (error ratios, delays, packet loss);
8 of objects that no MIB at hand names, or that are not in the recording; 10 that are read and told otherwise (empty cages of optics, ports
without a consumer, load and memory of hosts as such); 12 whose name says nothing of a kind. The first three make 92 % out of reach on these
recordings; 90 % is.

What is wrong: of the values a third, and of the limits almost half, differ by what is stated: lasers of two makers that are said to draw
amperes (they draw milliamperes), and darkness that is said in watts and told here in dBm. Without these 97.6 % of the values and 92.6 % of
the limits are right. The rest of the values have a scale that the MIB leaves open and no sibling gives away; the rest of the limits stand in
objects whose names do not say what they limit, and are left out: none is guessed.

${table(health)}
`;

function table(figures) {
  const cells = figures.map((figure) => [
    figure.name,
    String(figure.right),
    figure.counted === null ? '' : String(figure.counted),
    percent(figure),
    figure.aim === undefined ? '' : String(figure.aim),
  ]);
  const head = ['what', 'right', 'of', '%', 'aim %'];
  const widths = head.map((word, i) => Math.max(word.length, ...cells.map((row) => row[i].length)));
  const line = (row) =>
    `| ${row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join(' | ')} |`;
  const rule = `| ${widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(head), rule, ...cells.map(line)].join('\n');
}
