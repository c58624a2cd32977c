/** One task through training: its groups, step by step. What `gradus rollouts --task` prints and the editor follows. */
import { formatNumber, plural } from "../lib/format.ts";
import { mean } from "../lib/mean.ts";
import type { EvaluationRow, GroupRow } from "../protocol/protocol.ts";
import { blocksOf } from "./rescoreText.ts";
import { fromWire, type RolloutRow } from "./rollouts.ts";

export interface TaskStep {
  readonly step: number;
  readonly group: string;
  readonly rollouts: number;
  /** How many were right; null: no one counted, as in a held-out evaluation. */
  readonly successes: number | null;
  readonly admitted: boolean | null;
  readonly reason: string | null;
  /** Mean reward; NaN: none has one. */
  readonly reward: number;
  /** Of a held-out evaluation: how the task went, whether or not its answers were kept. */
  readonly held?: HeldOut;
  /** By reward; undefined: none has one. */
  readonly best: RolloutRow | undefined;
  readonly worst: RolloutRow | undefined;
}

export interface HeldOut {
  /** Of the answers that were drawn and scored, those that were right. */
  readonly samples: number;
  readonly right: number;
  /** null: none was asked for, or it could not be scored. */
  readonly greedy: boolean | null;
}

/** By step, how a held-out task went. */
function heldOut(evaluations: readonly EvaluationRow[], task: string): ReadonlyMap<number, HeldOut> {
  return new Map(
    evaluations.flatMap(({ step, results }): [number, HeldOut][] => {
      const at = results?.tasks.indexOf(task) ?? -1;
      if (results === undefined || at < 0) return [];
      const greedy = results.greedy[at] ?? null;
      const [samples = 0, right = 0] = [results.samples[at], results.right[at]];
      return [[step, { samples, right, greedy: greedy === null ? null : greedy === 1 }]];
    }),
  );
}

const rewardOf = ({ reward = null }: RolloutRow): number => fromWire(reward);

/**
 * In the order of the steps.
 * @param groups of the task
 * @param rollouts of the task
 * @param evaluations of the run, with results: of a held-out task all count, also where no answer was kept
 */
export function taskHistory(
  groups: readonly GroupRow[],
  rollouts: readonly RolloutRow[],
  { task, evaluations }: { readonly task: string; readonly evaluations: readonly EvaluationRow[] } = {
    task: "",
    evaluations: [],
  },
): TaskStep[] {
  const held = heldOut(evaluations, task);
  const members = new Map<string, RolloutRow[]>();
  const keyOf = ({ step, group }: { readonly step: number; readonly group: string }): string =>
    `${step} ${group}`;
  for (const rollout of rollouts) {
    const key = keyOf(rollout);
    const known = members.get(key);
    if (known === undefined) members.set(key, [rollout]);
    else known.push(rollout);
  }
  const counted = new Map(groups.map((group) => [keyOf(group), group]));
  const answered = [...members].map(([key, own]): TaskStep => {
    const { step, group, use } = own[0]!;
    const outcome = use === "evaluate" ? held.get(step) : undefined;
    const found = counted.get(key);
    const scored = own.filter((one) => !Number.isNaN(rewardOf(one)));
    const ranked = scored.toSorted((a, b) => rewardOf(b) - rewardOf(a));
    return {
      step,
      group,
      rollouts: own.length,
      successes: found?.successes ?? null,
      admitted: found?.admitted ?? null,
      reason: found?.reason ?? null,
      reward: scored.length === 0 ? Number.NaN : mean(scored.map(rewardOf)),
      ...(outcome && { held: outcome }),
      best: ranked[0],
      worst: ranked.at(-1),
    };
  });
  const seen = new Set(answered.flatMap((one) => (one.held === undefined ? [] : [one.step])));
  const others = [...held].flatMap(([step, outcome]) => (seen.has(step) ? [] : [unanswered(step, outcome)]));
  return [...answered, ...others].sort((a, b) => a.step - b.step);
}

/** An evaluation that kept no answer to the task. */
const unanswered = (step: number, held: HeldOut): TaskStep => ({
  ...{ step, group: "", rollouts: 0, successes: null, admitted: null, reason: null, reward: Number.NaN },
  ...{ held, best: undefined, worst: undefined },
});

/** "3 of 8 right"; "evaluation: greedy right, 3 of 8 drawn right"; "2 answers" where no one counted. */
export function rightText({ successes, rollouts, held }: TaskStep): string {
  if (held !== undefined) return `evaluation: ${heldText(held)}`;
  return successes === null ? plural(rollouts, "answer") : `${formatNumber(successes)} of ${rollouts} right`;
}

function heldText({ greedy, samples, right }: HeldOut): string {
  const drawn = samples === 0 ? [] : [`${right} of ${samples} drawn right`];
  return [...(greedy === null ? [] : [greedyText(greedy)]), ...drawn].join(", ") || "not scored";
}
const greedyText = (greedy: boolean): string => `greedy ${greedy ? "right" : "wrong"}`;

/** "mean reward 0.5"; nothing where no answer has a reward. */
export const rewardText = ({ reward }: TaskStep): string =>
  Number.isNaN(reward) ? "" : `mean reward ${formatNumber(reward)}`;

/** "In 3 steps, 12 to 479  ▁▄█  0 of 8 right → 7 of 8 right"; by mean reward where no one counted. */
export function taskSummary(steps: readonly TaskStep[]): string {
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined) return "No step has drawn it.";
  const most = Math.max(1, ...steps.map(({ reward }) => (Number.isNaN(reward) ? 0 : reward)));
  const count = new Set(steps.map(({ step }) => step)).size;
  const drawn = `In ${plural(count, steps.every(({ held }) => held !== undefined) ? "evaluation" : "step")}`;
  return steps.length === 1
    ? `${drawn}, ${first.step}: ${came(first)}`
    : `${drawn}, ${first.step} to ${last.step}  ${blocksOf(steps.map((step) => heightOf(step, most)))}  ${came(first)} → ${came(last)}`;
}

/** @param most the highest reward */
function heightOf({ successes, rollouts, reward, held }: TaskStep, most: number): number {
  if (held !== undefined) return held.greedy === null ? shareOf(held) : Number(held.greedy);
  return successes === null ? (Number.isNaN(reward) ? 0 : reward / most) : successes / rollouts;
}
const shareOf = ({ right, samples }: HeldOut): number => (samples === 0 ? 0 : right / samples);

function came(step: TaskStep): string {
  const { held, successes, reward } = step;
  if (held !== undefined) return held.greedy === null ? heldText(held) : greedyText(held.greedy);
  return successes === null ? `mean reward ${formatNumber(reward)}` : rightText(step);
}
