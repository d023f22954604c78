/** A notice as chats show it. Texts of devices and people are escaped: they call nobody (@channel) and are no links. Pure. */
import { type Payload, summaryOf } from './message.ts';

/** Where people go from a message, with the words of the link. */
export const linksOf = ({ data }: Payload): (readonly [words: string, url: string])[] => [
  ...(data.url ? [['Open the case', data.url] as const] : []),
  ...(data.acknowledgeUrl ? [['Acknowledge', data.acknowledgeUrl] as const] : []),
];

const ZERO_WIDTH_SPACE = '\u200B';
/** Slack: "Escaping text", three characters. */
const slack = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
export const markdown = (text: string): string =>
  text.replace(/[\\`*_{}[\]()#+\-.!|~<>]/g, '\\$&').replace(/@/g, `@${ZERO_WIDTH_SPACE}`);

export const messagesOf = ({ data }: Payload): string[] => data.events.map(({ message }) => message);

/** Slack's chat.update takes 4,000, and its answer has the text twice; Mattermost takes 16,383. */
const TEXT_CHARACTERS = 3_500;
const SUMMARY_CHARACTERS = 700;
/** Less of a message is worth no line. */
const LINE_CHARACTERS = 40;

/** How a chat writes. */
interface Style {
  /** Character by character. */
  safe(text: string): string;
  bold(text: string): string;
  link(words: string, url: string): string;
  item: string;
  /** Ends a list. */
  gap: string[];
}

/** A text, escaped; what is too long ends with an ellipsis, and not within what was escaped. */
function cut(text: string, safe: Style['safe'], most: number): string {
  const whole = safe(text);
  if (whole.length <= most) return whole;
  let made = '';
  for (const character of text) {
    const next = safe(character);
    if (made.length + next.length >= most) break;
    made += next;
  }
  return `${made}…`;
}

/** The summary, as many events as there is room for, how many there are besides, and the links. */
function textOf(payload: Payload, { safe, bold, link, item, gap }: Style): string {
  const links = linksOf(payload).map(([words, url]) => link(words, url));
  const head = bold(cut(summaryOf(payload), safe, SUMMARY_CHARACTERS));
  const tail = links.length > 0 ? [...gap, links.join(' · ')] : [];
  const more = (count: number): string => `${item}and ${count} more`;
  const messages = messagesOf(payload);
  const all = Math.max(messages.length, payload.data.case.openEventCount);
  let room = TEXT_CHARACTERS - [head, more(all), ...tail].join('\n').length;
  const lines: string[] = [];
  for (const message of messages) {
    if (room < LINE_CHARACTERS) break;
    const line = item + cut(message, safe, room - item.length - 1);
    room -= line.length + 1;
    lines.push(line);
  }
  const left = messages.length > 0 ? all - lines.length : 0;
  return [head, ...lines, ...(left > 0 ? [more(left)] : []), ...tail].join('\n');
}

export const slackText = (payload: Payload): string =>
  textOf(payload, {
    safe: slack,
    bold: (text) => `*${text}*`,
    link: (words, url) => `<${url}|${words}>`,
    item: '• ',
    gap: [],
  });

export const mattermostText = (payload: Payload): string =>
  textOf(payload, {
    safe: markdown,
    bold: (text) => `**${text}**`,
    link: (words, url) => `[${words}](${url})`,
    item: '- ',
    gap: [''],
  });
