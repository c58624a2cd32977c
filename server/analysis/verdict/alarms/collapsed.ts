/** The policy has become worse at the task than before it was rewarded. */
import type { Alarm } from "../finding.ts";
import type { Moment } from "../moment.ts";
import { beyondNoise, takeover } from "../takeover.ts";
import { movedBy, window } from "../trail.ts";

const success = "groups/success_rate";
/** Of the success rate at the start: less than this is a collapse. */
const share = 0.5;
/** Less than this at the start is too little to fall from. */
const least = 0.05;

export const collapsed: Alarm = (moment) => {
  const worse = (moment.comparison?.interval?.high ?? Number.POSITIVE_INFINITY) < 0;
  if (!worse && !fell(moment)) return null;
  return {
    state: "collapsed",
    kind: worse ? "held-out" : "training",
    since: () => onset(moment),
    term: takeover(moment)?.term ?? null,
    certain: worse,
  };
};

/** Only where steps can be compared: a curriculum that turns to harder tasks has fewer successes, too. */
function fell(moment: Moment): boolean {
  if (!moment.facts.steady || moment.gained || moment.count < 2 * window) return false;
  const [before, now] = [moment.start(success), moment.now(success)];
  return before.mean >= least && now.mean < share * before.mean && movedBy(before, now) < -beyondNoise;
}

/** Since when the success rate has been closer to what it is now than to its best before; else the evaluation that shows it. */
function onset(moment: Moment): number {
  const trail = moment.trail(success);
  const shown = moment.comparison?.step ?? moment.stepAt(moment.count);
  const now = moment.now(success).mean;
  if (!moment.facts.steady || Number.isNaN(now)) return shown;
  let best = moment.start(success).mean;
  for (let end = trail.length; end >= trail.begin + window; end--)
    best = Math.max(best, trail.over(end - window, end).mean);
  if (!(best - now >= least)) return shown;
  return Math.min(
    shown,
    moment.since(success, ({ mean }) => mean < (best + now) / 2),
  );
}
