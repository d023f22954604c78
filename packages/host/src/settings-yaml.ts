/** YAML and the lines in which its values stand. Loaded only where there is a file: a sweep by hand starts sooner. */
import { isMap, LineCounter, parseDocument } from 'yaml';

export interface ReadYaml {
  value: unknown;
  /** The first thing that is no YAML. */
  problem: { line: number; message: string } | null;
  /** Where `path` stands, or the nearest above it. */
  lineOf(path: readonly PropertyKey[]): number;
}

export function readYaml(text: string): ReadYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [syntax] = document.errors;
  const line = (offset: number) => lines.linePos(offset).line;
  return {
    value: syntax ? undefined : document.toJS(),
    problem: syntax ? { line: line(syntax.pos[0]), message: syntax.message } : null,
    lineOf: (path) => {
      for (let length = path.length; length > 0; length -= 1) {
        const parent: unknown =
          length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
        const key = path[length - 1];
        const pair = isMap(parent) && parent.items.find((item) => String(item.key) === String(key));
        const node = pair ? pair.key : document.getIn(path.slice(0, length), true);
        const range = (node as { range?: [number, number, number] | null } | null | undefined)?.range;
        if (range) return line(range[0]);
      }
      return 1;
    },
  };
}
