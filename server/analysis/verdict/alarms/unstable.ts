/** Numbers that are no longer those of a policy that learns: not finite, or a policy that turns to noise. */
import type { Alarm } from "../finding.ts";
import type { Moment } from "../moment.ts";
import { onsetOf } from "../onset.ts";
import { beyondNoise } from "../change.ts";
import { movedBy, window } from "../trail.ts";

const [entropy, reward] = ["policy/entropy", "reward/total"];
/** Nats, and times what it was at the start. */
const rise = { by: 1, times: 2 };

/** Of another trainer, whose log does not say how much was trained. It comes before what follows from it: the reward falls, too. */
export const notFinite: Alarm = (moment) => {
  if (!moment.facts.imported) return null;
  const loss = moment.brokenSince("update/loss");
  const gradient = moment.brokenSince("update/grad_norm");
  // Some set-ups never log a norm that is a number; what learns is not broken.
  const since = loss ?? (movedBy(moment.start(reward), moment.now(reward)) > beyondNoise ? null : gradient);
  if (since === null) return null;
  return {
    state: "unstable",
    kind: "not-finite",
    term: null,
    certain: false,
    since: () => Math.min(since, gradient ?? since),
  };
};

export const unstable: Alarm = (moment) => {
  const sign = { state: "unstable", term: null, certain: false } as const;
  if (isBroken(moment, "update/loss") || isBroken(moment, "update/grad_norm"))
    return { ...sign, kind: "not-finite", since: () => moment.stepAt(moment.count - window) };
  if (!entropyRises(moment)) return null;
  const since = (): number => onsetOf(moment, entropy, "rise") ?? moment.stepAt(moment.count - window);
  return { ...sign, kind: "entropy", since };
};

/** A metric that the run records, and that is not a finite number in half of the last steps that updated. */
const isBroken = (moment: Moment, metric: string): boolean =>
  moment.trail(metric).length > 0 &&
  moment.now(metric).count < window / 2 &&
  moment.now("tokens/trained").mean > 0;

function entropyRises(moment: Moment): boolean {
  const [before, now] = [moment.start(entropy), moment.now(entropy)];
  return (
    now.mean > before.mean + rise.by &&
    now.mean > rise.times * before.mean &&
    movedBy(before, now) > beyondNoise &&
    !moment.gained
  );
}
