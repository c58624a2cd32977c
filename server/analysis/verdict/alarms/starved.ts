/** Hardly any group has advantages: what is generated is thrown away. */
import type { Alarm } from "../finding.ts";
import type { Moment } from "../moment.ts";
import { beyondNoise } from "../change.ts";
import { movedBy, window, type Stretch } from "../trail.ts";

/** Of the groups of a step. */
const least = 0.1;
/** Of the groups: then tasks are too easy, or too hard. */
const dominating = 0.7;

/** What is 0 but for rounding. */
const nothing = 1e-7;
const norm = "update/grad_norm";
const reward = "reward/total";

export const starved: Alarm = (moment) =>
  byGroups(moment) ?? bySpread(moment) ?? byGradient(moment) ?? byMean(moment);

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

/** Pairs that are equal where all answers of a group get the same reward; a lone one is 0 there. */
const spreads: readonly (readonly [string, string?])[] = [
  ["reward/total/std"],
  ["reward/total/max", "reward/total/min"],
  ["critic/advantages/max", "critic/advantages/min"],
];

/** Of another trainer, which may log how far rewards lie apart in place of groups. */
function bySpread(moment: Moment): ReturnType<Alarm> {
  const at = (place: number, name: string): number => moment.trail(name).over(place, place + 1).mean;
  for (const [top, bottom] of spreads) {
    const found = sameFor(moment, window, "same-rewards", (place) => {
      const apart = at(place, top) - (bottom === undefined ? 0 : at(place, bottom));
      return Math.abs(apart) < nothing;
    });
    if (found !== null) return found;
  }
  return null;
}

/** A mean of answers that differ is hardly ever the same twice; where nothing else is logged, it says that they do not. */
function byMean(moment: Moment): ReturnType<Alarm> {
  if (spreads.some(([name]) => moment.trail(name).length > 0)) return null;
  const now = moment.now(reward).mean;
  return sameFor(moment, 2 * window, "same-mean", (place) => {
    const { mean } = moment.trail(reward).over(place, place + 1);
    return Math.abs(mean - now) <= nothing * Math.abs(now);
  });
}

/** @param least steps for which it must hold */
function sameFor(
  moment: Moment,
  least: number,
  kind: string,
  holds: (place: number) => boolean,
): ReturnType<Alarm> {
  const { imported } = moment.facts;
  if (!imported || moment.gained || moment.count < least || hasRisen(moment)) return null;
  const back = (to: number): number => {
    let place = moment.count;
    while (place > to && holds(place - 1)) place -= 1;
    return place;
  };
  const first = moment.count - least;
  if (back(first) > first) return null;
  const since = (): number => moment.stepAt(back(moment.trail(reward).begin));
  return { state: "starved", kind, since, term: null, certain: false };
}

/** What has come to be solved is equal in the end, too. */
const hasRisen = (moment: Moment): boolean =>
  movedBy(moment.begins(moment.solved), moment.now(moment.solved)) > beyondNoise;

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
