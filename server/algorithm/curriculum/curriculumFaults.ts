/** Messages for a curriculum that cannot go on as configured. */
import type { Verdict } from "../../core/slots/curriculum.ts";
import type { Group } from "../../core/rollouts.ts";

export interface Fault {
  /** Kind of event. */
  readonly code: string;
  readonly message: string;
  readonly action: string;
}

const rounded = (value: number): string => String(Math.round(value * 1000) / 1000);

/** For a refill that ended with fewer groups than wanted; null: it did not. */
export function starvation(
  groups: readonly Group[],
  verdicts: readonly Verdict[],
  wanted: number,
): Omit<Fault, "code"> | null {
  const admitted = verdicts.filter((verdict) => verdict.admitted).length;
  if (admitted >= wanted) return null;
  if (admitted === groups.length) {
    return {
      message: `there were tasks for only ${groups.length} of ${wanted} groups`,
      action: "Raise `epochs`, add tasks, let admission keep more of them, or lower rollout.prompts.",
    };
  }
  const rates = groups
    .filter(({ rewards }) => rewards.length > 0)
    .map(({ successes, rewards }) => successes / rewards.length);
  const counts = [...new Set(rates)]
    .sort((a, b) => a - b)
    .map((rate) => `${rounded(rate)} (${rates.filter((other) => other === rate).length}×)`);
  return {
    message: `admission kept ${admitted} of ${groups.length} groups, but the step wants ${wanted}; success rates seen: ${counts.join(", ") || "none"}`,
    action:
      "Widen the band, draw tasks that fit the policy (easier or harder arms), raise rollout.group, or choose another admission.",
  };
}

/** For groups whose signal is not finite. */
export function nonFinite(signal: string, groups: readonly Group[]): Fault[] {
  const [first] = groups;
  if (first === undefined) return [];
  const more = groups.length === 1 ? "" : `, and in ${groups.length - 1} more groups of the step`;
  return [
    {
      code: "signal-not-finite",
      message: `the signal ${signal} is not finite for the task ${first.task.id} of ${first.arm}${more}; its rewards are ${[...first.rewards].slice(0, 8).map(rounded).join(", ")}`,
      action:
        "The group was not observed. Check the reward terms for infinite or very large values, or choose another signal.",
    },
  ];
}

/** For arms without a task left. */
export const withoutTasks = (arms: readonly string[]): Fault[] =>
  arms.length === 0
    ? []
    : [
        {
          code: "arm-empty",
          message: `${arms.length === 1 ? "an arm has" : `${arms.length} arms have`} no task left to train on: ${arms.slice(0, 5).join(", ")}${arms.length > 5 ? ", …" : ""}`,
          action:
            "The other arms are drawn instead. Raise `epochs`, add tasks to these arms, or remove them.",
        },
      ];
