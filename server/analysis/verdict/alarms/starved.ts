/** Hardly any group has advantages: what is generated is thrown away. */
import type { Alarm } from "../finding.ts";
import type { Moment } from "../moment.ts";

/** Of the groups of a step. */
const least = 0.1;
/** Of the groups: then tasks are too easy, or too hard. */
const dominating = 0.7;

export const starved: Alarm = (moment) => {
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
