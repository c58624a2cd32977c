/** Which reward term the reward's rise is due to. */
import type { Moment } from "./moment.ts";
import { beyondNoise } from "./change.ts";
import { movedBy } from "./trail.ts";

/** Of the reward's rise. */
const most = 0.6;

export interface Takeover {
  readonly term: string;
  /** Its part of the rise, in units of the reward. */
  readonly gain: number;
  /** The reward's rise since the start, at today's weights. */
  readonly rise: number;
}

/**
 * A term without a part in success that accounts for most of the reward's rise since training began, at the weights that act
 * now: a weight that grows is no change of behaviour.
 */
export function takeover(moment: Moment): Takeover | null {
  const { facts } = moment;
  if (!facts.summed) return null;
  const gains = facts.terms.flatMap((term) => {
    const weight = moment.now(`reward/${term}/weight`).mean;
    const [before, after] = [moment.begins(`reward/${term}`), moment.now(`reward/${term}`)];
    const gain = (Number.isNaN(weight) ? 1 : weight) * (after.mean - before.mean);
    return Number.isNaN(gain) ? [] : [{ term, gain, moved: Math.abs(movedBy(before, after)) }];
  });
  const rise = gains.reduce((sum, { gain }) => sum + gain, 0);
  const top = gains
    .filter(({ term, moved }) => !facts.success.has(term) && moved > beyondNoise)
    .sort((one, other) => other.gain - one.gain)[0];
  if (top === undefined || top.gain <= 0) return null;
  return top.gain >= most * Math.max(rise, 0) ? { term: top.term, gain: top.gain, rise } : null;
}
