// What health would be without the objects that people added to the facts of MIBs: an agent that nobody looked at has none.
import { KNOWN } from '../catalogue/guess.mjs';

export { KNOWN };

const isHandMade = ({ oid = '' }) => KNOWN.some(([known]) => oid.startsWith(`${known}.`));

/** A line of health results without what stands at such an object. */
export const withoutHandMade = ({ health, ...line }) => ({
  ...line,
  health: Object.fromEntries(
    Object.entries(health).map(([list, found]) => [
      list,
      Array.isArray(found) ? found.filter((each) => !isHandMade(each)) : found,
    ]),
  ),
});
