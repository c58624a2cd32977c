/** The verdict where nothing is wrong: held-out results against those before training. */
import type { Quiet } from "./finding.ts";
import { isShare, negligible } from "./heldOut.ts";
import type { Moment } from "./moment.ts";
import { window } from "./trail.ts";

/** Share of the planned steps before which a difference may still be too small to be seen. */
const early = 0.25;

interface Plan {
  /** Planned steps of the whole run; null: unknown. */
  readonly steps: number | null;
}

const found = (state: Quiet["state"], kind: string, since: number | null = null): Quiet => ({
  state,
  kind,
  since,
  term: null,
});

export function quiet(moment: Moment, step: number, { steps }: Plan): Quiet {
  const { comparison } = moment;
  if (moment.count < window) return found("too early", "few-steps");
  if (comparison === undefined) {
    const expected = moment.facts.every !== null && steps !== null && step < steps - 1;
    return expected ? found("too early", "no-evaluation") : found("cannot tell", "no-held-out");
  }
  if (comparison.interval === null) return found("cannot tell", "no-tasks");
  const { low, high } = comparison.interval;
  if (low > 0) return found("learning", "held-out", firstGain(moment));
  if (isShare(comparison) && low >= -negligible && high <= negligible) return found("flat", "held-out");
  const until = steps === null ? 2 * window : early * (steps - moment.begin);
  return found(moment.count < until ? "too early" : "cannot tell", "wide");
}

/** The evaluation since which held-out results have been better without a break. */
function firstGain({ comparisons }: Moment): number | null {
  const gained = comparisons.map(({ interval }) => (interval?.low ?? -1) > 0);
  const since = gained.lastIndexOf(false) + 1;
  return comparisons[since]?.step ?? null;
}
