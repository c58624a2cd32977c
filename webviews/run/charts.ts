/** The charts of the run panel, in their order. */
import type { ChartModel } from "../shared/chartModel.ts";
import { align } from "../shared/columns.ts";
import { admissionModel, curriculumModel, estimateModel, spentModel } from "./curriculum/curriculumModels.ts";
import {
  charted,
  criteriaModel,
  groupsModel,
  heldOutModel,
  lineOf,
  pair,
  rewardModel,
  stacked,
  together,
  type ChartDefinition,
  type LineStyle,
  type RunView,
} from "./models.ts";
import { termsModel, weightsModel } from "./learning/termModels.ts";

/** Phases in the order in which a step runs them; unknown ones follow. */
const phases = ["generate", "reward", "score", "update", "evaluate", "log"];

function timeModel(view: RunView): ChartModel {
  const recorded = view.series.names
    .filter((name) => name.startsWith("time/") && name !== "time/total")
    .map((name) => name.slice("time/".length));
  const rank = (phase: string): number => (phases.includes(phase) ? phases.indexOf(phase) : phases.length);
  const parts = recorded
    .sort((a, b) => rank(a) - rank(b) || a.localeCompare(b))
    .map((phase, i) => ({
      style: { name: phase, tone: i, dash: i, format: "seconds" } satisfies LineStyle,
      column: view.series.column(`time/${phase}`),
    }));
  return stacked(view, "time per phase", parts, { limits: null, absent: "zero" });
}

/** What the process holds, under what was predicted for its peak. */
function memoryModel(view: RunView): ChartModel {
  const parts = [
    ["memory/rss", "held", 0],
    ["memory/peak", "peak so far", 1],
    ["memory/predicted", "predicted peak", 2],
  ] as const;
  const aligned = align(parts.map(([metric]) => view.series.column(metric)));
  return charted(
    view,
    "memory",
    aligned,
    parts.map(([, name, i]) => lineOf({ name, tone: i, dash: i, format: "bytes" }, aligned, i)),
  );
}

export const charts: readonly ChartDefinition[] = [
  { id: "reward", title: "Reward and held-out pass@1", wide: true, steady: true, model: rewardModel },
  { id: "terms", title: "Reward terms", optional: true, steady: true, model: termsModel },
  { id: "heldOut", title: "Held-out tasks", optional: true, steady: true, model: heldOutModel },
  { id: "groups", title: "Groups by outcome", steady: true, model: groupsModel },
  { id: "weights", title: "Weights of the reward terms", optional: true, model: weightsModel },
  { id: "criteria", title: "Criteria: share met", optional: true, model: criteriaModel },
  { id: "curriculum", title: "Curriculum: share per arm", model: curriculumModel },
  { id: "estimate", title: "Curriculum: estimate per arm", optional: true, model: estimateModel },
  { id: "admission", title: "Groups drawn and trained", model: admissionModel },
  { id: "spent", title: "Tokens by group outcome", optional: true, model: spentModel },
  {
    id: "entropy",
    title: "Entropy",
    model: pair("entropy", {
      metric: "policy/entropy",
      name: "nats per token",
      tone: 2,
      dash: 0,
      format: "number",
    }),
  },
  {
    id: "length",
    title: "Response length",
    model: pair(
      "response length",
      { metric: "rollout/length", name: "tokens", tone: 3, dash: 0, format: "tokens" },
      { metric: "rollout/truncated", name: "truncated", tone: 4, dash: 1, format: "fraction" },
    ),
  },
  { id: "time", title: "Time per phase", model: timeModel },
  {
    id: "update",
    title: "Update",
    model: pair(
      "loss",
      { metric: "update/loss", name: "loss", tone: 0, dash: 0, format: "number" },
      { metric: "update/grad_norm", name: "gradient norm", tone: 1, dash: 1, format: "number" },
    ),
  },
  {
    id: "clip",
    title: "Clipped tokens",
    model: together("clip", "fraction", [
      { metric: "update/clip_low", name: "low" },
      { metric: "update/clip_high", name: "high" },
      { metric: "update/clip_fraction", name: "both" },
      { metric: "update/ess", name: "effective samples", axis: "right" },
    ]),
  },
  {
    id: "divergence",
    title: "Divergence: nats per token",
    model: together("divergence", "number", [
      { metric: "policy/kl/reference", name: "from the reference" },
      { metric: "update/anchor_kl", name: "from the old policy" },
      { metric: "mismatch/k3", name: "sampler from trainer" },
      { metric: "mismatch/band", name: "its upper limit" },
    ]),
  },
  { id: "memory", title: "Memory", model: memoryModel },
];
