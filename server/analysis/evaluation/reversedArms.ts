import type { Difference } from "./compare.ts";

export interface ReversedArm extends Difference {
  readonly arm: string;
}

/**
 * Arms on which the model that is worse over all tasks is better: a ranking by a few tasks would be another. The whole of an
 * evaluation is the mean over a family of tasks. Source: "The Impact of Task Underspecification in Evaluating Deep RL".
 * @param metric without its arm, e.g. `pass@1`
 */
export function reversedArms(
  differences: Readonly<Record<string, Difference>>,
  metric: string,
): readonly ReversedArm[] {
  const whole = differences[`eval/${metric}`]?.value ?? 0;
  return Object.entries(differences).flatMap(([name, difference]) => {
    const [, arm] = /^eval\/(.+)\/([^/]+)$/.exec(name) ?? [];
    const own = arm !== undefined && name === `eval/${arm}/${metric}`;
    return own && Math.sign(difference.value) * Math.sign(whole) < 0 ? [{ arm, ...difference }] : [];
  });
}
