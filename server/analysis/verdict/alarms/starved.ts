/** Hardly any group has advantages: what is generated is thrown away. */
import type { Alarm } from "../finding.ts";
import type { Moment } from "../moment.ts";
import { window, type Stretch } from "../trail.ts";

/** Of the groups of a step. */
const least = 0.1;
/** Of the groups: then tasks are too easy, or too hard. */
const dominating = 0.7;

/** A norm of the gradient that is 0 but for rounding. */
const nothing = 1e-7;
const norm = "update/grad_norm";

export const starved: Alarm = (moment) => byGroups(moment) ?? byGradient(moment);

/** Of another trainer, which may log no groups: nothing comes out of what it generates. */
function byGradient(moment: Moment): ReturnType<Alarm> {
  const isZero = (stretch: Stretch): boolean => Math.abs(stretch.mean) < nothing && stretch.error < nothing;
  if (!moment.facts.imported || moment.gained || moment.now(norm).count < window || !isZero(moment.now(norm)))
    return null;
  return {
    state: "starved",
    kind: "no-gradient",
    since: () => moment.since(norm, isZero),
    term: null,
    certain: false,
  };
}

const byGroups: Alarm = (moment) => {
  const share = teaching(moment);
  if (!(share < least)) return null;
  const [right, wrong] = [moment.now("groups/all_right").mean, moment.now("groups/all_wrong").mean];
  const kind = right >= dominating ? "too-easy" : wrong >= dominating ? "too-hard" : "no-spread";
  // A policy that has come to solve its tasks has nothing left to learn from them, and that is no fault.
  if (kind === "too-easy" && moment.gained) return null;
  return {
    state: "starved",
    kind,
    since: () => moment.since("groups/zero_advantage", ({ mean }) => mean > 1 - 2 * least),
    term: null,
    certain: false,
  };
};

/** Groups with advantages, as a share of those that a step is meant to have: refilling may make up for many that have none. */
export function teaching(moment: Moment): number {
  const [zero, mixed] = [moment.now("groups/zero_advantage").mean, moment.now("groups/mixed").mean];
  const share = Number.isNaN(zero) ? mixed : 1 - zero;
  const drawn = moment.now("groups/drawn").mean;
  const { prompts } = moment.facts;
  return Number.isNaN(drawn) || prompts === null ? share : (share * drawn) / prompts;
}
