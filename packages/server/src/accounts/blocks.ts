import { parseBlock } from '@rollcall/shared/ip';
import { invalid } from '../platform/problem.ts';

/** Canonical text of each address or CIDR; `path` is the member of the request that has them. */
export const canonicalBlocks = (path: string, texts: readonly string[]): string[] =>
  texts.map((text, i) => {
    const block = parseBlock(text);
    if (!block.ok) throw invalid(`${path}.${i}`, block.reason);
    return block.value.toString();
  });
