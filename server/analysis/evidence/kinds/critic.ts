import { formatNumber } from "../../../../shared/lib/format.ts";
import { mean } from "../../../../shared/lib/mean.ts";
import { standardError } from "../../simulate/statistics.ts";
import type { EvidenceKind, Sighting } from "../kind.ts";
import { finite } from "../numbers.ts";
import type { RunView } from "../view.ts";

/**
 * Steps that a critic gets before it is judged, and the share of the variance that it then has to explain. A critic begins
 * below nothing: in thirteen PPO runs that learned, it came above this share between steps 80 and 120, rising all the way.
 */
const [given, least] = [80, 0.05];
const recently = 20;

/** Whether the mean has risen by more than two standard errors. */
const isAbove = (now: readonly number[], before: readonly number[]): boolean =>
  mean(now) - mean(before) > 2 * Math.hypot(standardError(now), standardError(before));

const about = {
  at: "objective.value",
  reads: [{ path: "objective.value" }, { path: "advantage" }, { path: "update.optimizer.lr" }],
} as const;

/** Under-fitting: the critic says no more of a return than a constant would. */
function explainsNothing(view: RunView): readonly Sighting[] {
  const all = finite(view.points("value/explained_variance"));
  if (all.length < given) return [];
  const last = all.slice(-recently);
  const now = mean(last);
  if (now > least || isAbove(last, all.slice(-2 * recently, -recently))) return [];
  return [
    {
      ...about,
      level: "diagnostic",
      metric: "value/explained_variance",
      message: `After ${all.length} steps the critic explains ${formatNumber(now)} of the returns' variance, which a constant does as well, and no more than 20 steps before: advantages that use it are no better than without a critic. Give it steps of its own first (a stage with \`objective.factor: 0\`), or raise \`objective.value.coefficient\` or the learning rate.`,
    },
  ];
}

const [blocks, eachLeast] = [10, 3];

/**
 * Over-fitting on a log: what the critic expects of the same data rises, then falls ("A Workflow for Offline Model-Free
 * Robotic Reinforcement Learning"). Both have to be well above the noise of the blocks' means.
 */
function fitsTheLog(view: RunView): readonly Sighting[] {
  const isLogged = (view.text("replay.use") ?? view.text("replay")) === "file";
  const { steps, values } = view.points("value/mean");
  const size = Math.floor(values.length / blocks);
  if (!isLogged || size < eachLeast || values.some((value) => !Number.isFinite(value))) return [];
  const parts = Array.from({ length: blocks }, (_, block) =>
    Array.from(values.slice(block * size, (block + 1) * size)),
  );
  const means = parts.map(mean);
  const noise = Math.sqrt(
    mean(parts.map((part, k) => mean(part.map((value) => (value - means[k]!) ** 2)) / size)),
  );
  const highest = Math.max(...means);
  const peak = means.indexOf(highest);
  const [first, last] = [means[0]!, means.at(-1)!];
  const [rise, fall] = [highest - first, highest - last];
  if (Math.min(rise, fall) <= 4 * noise || fall < rise / 2) return [];
  const step = steps[Math.min(values.length - 1, peak * size + (size >> 1))]!;
  return [
    {
      ...about,
      at: "replay",
      reads: [...about.reads, { path: "replay" }],
      level: "diagnostic",
      metric: "value/mean",
      message: `What the critic expects of the logged rollouts rose from ${formatNumber(first)} to ${formatNumber(highest)} at about step ${step} and has fallen to ${formatNumber(last)} since: it begins to fit the log. Use the checkpoint of about step ${step}, or train on the log for fewer steps.`,
    },
  ];
}

export const critic: EvidenceKind = {
  id: "run-critic",
  see: (view) => [...explainsNothing(view), ...fitsTheLog(view)],
};
