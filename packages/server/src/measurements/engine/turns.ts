/** Turns of many parties, so that none of them holds up the others. */

/** The same parties in their order, from the one behind `last` on: who had no turn in this round begins the next. */
export function startingAfter(last: string, parties: readonly string[]): string[] {
  const first = parties.findIndex((party) => party > last);
  return first < 0 ? [...parties] : [...parties.slice(first), ...parties.slice(0, first)];
}

/**
 * Gives each party a turn, and another one behind all others for as long as `turn` says that it has more.
 * @param lanes turns at the same time, each of another party
 */
export async function takeTurns(
  parties: readonly string[],
  lanes: number,
  turn: (party: string) => Promise<boolean>,
): Promise<void> {
  const queue = [...parties];
  const lane = async () => {
    for (let party = queue.shift(); party !== undefined; party = queue.shift())
      if (await turn(party)) queue.push(party);
  };
  // No lane is left behind at work where another one fails.
  const ended = await Promise.allSettled(Array.from({ length: lanes }, lane));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}
