/** The policy has become worse at the task than before it was rewarded. */
import type { Alarm } from "../finding.ts";
import type { Moment } from "../moment.ts";
import { negligible } from "../heldOut.ts";
import { endOf, onsetOf } from "../onset.ts";
import { beyondNoise } from "../change.ts";
import { takeover } from "../takeover.ts";
import { movedBy, window } from "../trail.ts";

const entropy = "policy/entropy";
/** Of the entropy at the start: less leaves one answer to everything. */
const choice = 0.25;
/** Of the success rate at the start: less than this is a collapse. */
const share = 0.5;
/** Less than this at the start is too little to fall from. */
const least = 0.05;

export const collapsed: Alarm = (moment) => {
  const kind = kindOf(moment);
  if (kind === null) return null;
  const term = takeover(moment)?.term ?? null;
  return { state: "collapsed", kind, since: () => onset(moment), term, certain: kind === "held-out" };
};

function kindOf(moment: Moment): "held-out" | "degenerate" | "training" | null {
  return isWorse(moment) ? "held-out" : degenerate(moment) ? "degenerate" : fell(moment) ? "training" : null;
}

/** Fewer tasks with a right answer among several are no loss where answers are right more often: the policy is surer. */
function isWorse({ comparison }: Moment): boolean {
  if (comparison === undefined) return false;
  const { interval, solved, before, after, tasks } = comparison;
  // A curve without tasks is measured finely: what it loses must be worth a word.
  return (
    (interval?.high ?? 1) < (tasks === null ? -negligible : 0) || (after <= before && (solved?.high ?? 1) < 0)
  );
}

/** Hardly any choice is left in what it writes, and what it writes is right less often: no curriculum does that. */
function degenerate(moment: Moment): boolean {
  if (moment.gained || moment.count < 2 * window) return false;
  const [before, now] = [moment.start(entropy), moment.now(entropy)];
  const [right, rightNow] = [moment.start(moment.solved), moment.now(moment.solved)];
  return (
    now.mean < choice * before.mean &&
    rightNow.mean < share * right.mean &&
    movedBy(right, rightNow) < -beyondNoise
  );
}

/** Only where steps can be compared: a curriculum that turns to harder tasks has fewer successes, too. */
function fell(moment: Moment): boolean {
  if (!moment.facts.steady || moment.gained || moment.count < 2 * window) return false;
  // What another trainer logs may be less than success: held-out results that hold are stronger.
  if (moment.facts.imported && holds(moment)) return false;
  const [before, now] = [moment.start(moment.solved), moment.now(moment.solved)];
  return before.mean >= least && now.mean < share * before.mean && movedBy(before, now) < -beyondNoise;
}

const holds = ({ comparison }: Moment): boolean =>
  comparison !== undefined && comparison.after >= comparison.before;

/** Since when successes fell; where they did not, since when held-out results did, or the evaluation that shows it. */
function onset(moment: Moment): number {
  const { comparison } = moment;
  const fell = onsetOf(moment, moment.solved, "fall");
  return fell ?? comparison?.change?.from ?? comparison?.step ?? moment.stepAt(moment.count - window);
}

/** The step from which on they are what they are now; null: that is `since`, but for a few steps. */
export function endOfCollapse(moment: Moment, since: number): number | null {
  if (onsetOf(moment, moment.solved, "fall") !== null) return endOf(moment, moment.solved, "fall", since);
  const to = moment.comparison?.change?.to ?? since;
  return to > since ? to : null;
}
