/** The body of a webhook in Liquid (https://shopify.github.io/liquid/), from what a notice says. Pure, bounded. */
import { TEMPLATE_CHARACTERS } from '@rollcall/shared/api/subscriptions';
import { CaseStatus, nameOfCode, Severity } from '@rollcall/shared/model';
import { type Context, defaultOperators, type Emitter, Liquid, type LiquidError, toValue } from 'liquidjs';
import { type Payload, summaryOf } from './message.ts';

/**
 * Of one rendering, which is done on the server's own thread: its time in ms (a busy machine takes its time), looked at
 * before each step, and how much it works on in all, in characters and members of lists. The library counts that in ranges
 * and in most of what filters make; what filters are given, what is written and each step is counted below.
 */
const LIMITS = { renderLimit: 500, memoryLimit: 500_000 };
type Limit = Context['memoryLimit'];
/** A step counts as so many characters: a rendering has 10,000 at most. */
const STEP = 50;
/** What is searched for in a text: looking for long ones can take the square of their length, in one step. */
const SEARCH_CHARACTERS = 1_000;
const SEARCHES = [
  'split',
  'replace',
  'replace_first',
  'replace_last',
  'remove',
  'remove_first',
  'remove_last',
];
export const BODY_BYTES = 64 * 1024;

const contains = defaultOperators.contains as Exclude<typeof defaultOperators.contains, undefined>;

const engine = new Liquid({
  templates: {},
  parseLimit: TEMPLATE_CHARACTERS,
  ownPropertyOnly: true,
  strictFilters: true,
  timezoneOffset: 0,
  operators: {
    ...defaultOperators,
    contains: (text, sought, context) => {
      checkSought(sought);
      return contains(text, sought, context);
    },
  },
});
// There are no other templates to take in, and no files.
for (const tag of ['include', 'render', 'layout', 'block']) delete engine.tags[tag];

const TOO_LONG = `it makes more than ${BODY_BYTES / 1024} KiB`;

/** Counts a value, the members of lists too. A list that holds a list many times counts as often as it would be written. */
function count(value: unknown, limit: Limit): void {
  if (typeof value === 'string') limit.use(value.length);
  if (!Array.isArray(value)) return;
  limit.use(value.length);
  for (const member of value) count(member, limit);
}

function checkSought(value: unknown): void {
  if (toText(value).length > SEARCH_CHARACTERS)
    throw new Error(`it looks for more than ${SEARCH_CHARACTERS} characters`);
}

/** What a template writes, into its body or by `capture` into a variable. */
class BoundedText implements Emitter {
  buffer = '';
  readonly #limit: Limit;
  constructor(limit: Limit) {
    this.#limit = limit;
  }
  write(value: unknown): void {
    count(value, this.#limit);
    const text = toText(value);
    if (this.buffer.length + text.length > BODY_BYTES) throw new Error(TOO_LONG);
    this.buffer += text;
  }
}
/** As the library writes. */
function toText(value: unknown): string {
  const plain = toValue(value);
  return Array.isArray(plain) ? plain.map(toText).join('') : String(plain ?? '');
}

// All that is rendered goes through here: the whole, each turn of a loop, each branch.
const { renderer, filters } = engine;
const renderTemplates = renderer.renderTemplates.bind(renderer);
renderer.renderTemplates = (templates, context, emitter = new BoundedText(context.memoryLimit)) => {
  context.memoryLimit.use(templates.length * STEP);
  return renderTemplates(templates, context, emitter);
};
for (const [name, filter] of Object.entries(filters)) {
  const { handler, raw } = typeof filter === 'function' ? { handler: filter, raw: false } : filter;
  const counting: typeof handler = function (...given) {
    count(given, this.context.memoryLimit);
    if (SEARCHES.includes(name)) checkSought(given[1]);
    return handler.apply(this, given);
  };
  engine.registerFilter(name, { handler: counting, raw: raw ?? false });
}

/** A template that makes no body; the message says where and why. */
export class TemplateRefused extends Error {
  override name = 'TemplateRefused';
}

/** Every member is there: what is absent in a notice is null. */
const variablesOf = (payload: Payload) => ({
  summary: summaryOf(payload),
  severity: nameOfCode(Severity, payload.data.case.severity),
  status: nameOfCode(CaseStatus, payload.data.case.status),
  ...payload,
  data: { url: null, acknowledgeUrl: null, ...payload.data },
});

interface Rendering {
  /** The body must be JSON. */
  json: boolean;
  /** Names that mean nothing are refused. */
  strict?: boolean;
}

/** @throws TemplateRefused */
export function render(template: string, payload: Payload, { json, strict = false }: Rendering): string {
  let body: string;
  try {
    body = engine.parseAndRenderSync(template, variablesOf(payload), { ...LIMITS, strictVariables: strict });
  } catch (error) {
    throw new TemplateRefused((error as LiquidError).message);
  }
  if (Buffer.byteLength(body) > BODY_BYTES) throw new TemplateRefused(TOO_LONG);
  if (json) requireJson(body);
  return body;
}

function requireJson(body: string): void {
  try {
    JSON.parse(body);
  } catch (error) {
    throw new TemplateRefused(
      `it makes no JSON (${(error as Error).message}): write {{ data.case.title | json }} for a text, which adds ` +
        'the quotes, or name another content type in a header of its own',
    );
  }
}
