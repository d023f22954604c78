// What an amount of memory or storage is by its name: used, free, or all of it; and of what.

import { tokens, without } from './words.mjs';

const ROLE_WORDS = new Set(
  'total used free avail available usage utilization utilisation util percent percentage pct size in use left remaining capacity allocated alloc allocation current cur absolute value max space bytes byte kb kbytes kilobytes mb mbytes megabytes gb amount installed idle inuse freed consumed occupancy pool rate ratio unused hc ovrflw overflow'.split(
    ' ',
  ),
);
export const groupOf = (name) => [...without(tokens(name), ROLE_WORDS)].join(' ');
export const AMOUNTS = ['used', 'free', 'total'];
/** The role that a name gives in one word is worth more than the facts', which rest on longer texts. */
export const roleIn = (name) => {
  const told = tokens(name).filter((word) => SURE[word]);
  return told.length === 1 && !tokens(name).some((word) => /^(used|usage|use|alloc\w*)$/.test(word))
    ? SURE[told[0]]
    : undefined;
};
const SURE = { total: 'total', unused: 'free', free: 'free' };
export const roleOf = (name) => tokens(name).reduceRight((found, word) => found ?? ROLES[word], undefined);
const ROLES = {
  ...{ used: 'used', inuse: 'used', alloc: 'used', allocated: 'used', consumed: 'used' },
  ...{
    free: 'free',
    freed: 'free',
    idle: 'free',
    avail: 'free',
    available: 'free',
    remaining: 'free',
    unused: 'free',
  },
  ...{ total: 'total', size: 'total', capacity: 'total', installed: 'total' },
};
