/** The charts of the run panel, in their order. */
import type { ChartModel } from "../shared/chartModel.ts";
import { align } from "../shared/columns.ts";
import { admissionModel, curriculumModel, estimateModel, spentModel } from "./curriculum/curriculumModels.ts";
import {
  charted,
  criteriaModel,
  groupsModel,
  lineOf,
  middleBand,
  pair,
  stacked,
  together,
  type ChartDefinition,
  type LineStyle,
  type RunView,
} from "./models.ts";
import { turnoverModel } from "./forgetting/turnoverModel.ts";
import { goldModel } from "./learning/goldModel.ts";
import { heldOutModel } from "./learning/heldOutModel.ts";
import { rewardModel, termsModel, weightsModel } from "./learning/rewardModels.ts";

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

/** The mean over the step's rollouts, between which lengths most of them are, and how many were cut. */
function lengthModel(view: RunView): ChartModel {
  const metrics = ["", "/p50", "/p10", "/p90"].map((part) => `rollout/length${part}`);
  const aligned = align([...metrics, "rollout/truncated"].map((metric) => view.series.column(metric)));
  const [, , low = [], high = []] = aligned.values;
  const mean = lineOf({ name: "mean tokens", tone: 3, dash: 0, format: "tokens" }, aligned, 0);
  const band = middleBand(low, high);
  const lines = [
    band === null ? mean : { ...mean, band },
    lineOf({ name: "median", tone: 3, dash: 2, format: "tokens" }, aligned, 1),
    lineOf({ name: "truncated", tone: 1, dash: 1, format: "fraction", axis: "right" }, aligned, 4),
  ];
  return charted(view, "response length", aligned, lines, null, 2);
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
  {
    id: "terms",
    title: "Reward by term",
    place: "learning",
    over: "all",
    optional: true,
    steady: true,
    model: termsModel,
  },
  {
    id: "heldOut",
    title: "Held-out tasks",
    place: "learning",
    over: "held-out",
    steady: true,
    model: heldOutModel,
  },
  {
    id: "gold",
    title: "Reward and gold",
    place: "learning",
    over: "held-out",
    optional: true,
    steady: true,
    model: goldModel,
  },
  { id: "reward", title: "Reward", place: "lane", over: "all", steady: true, model: rewardModel },
  { id: "groups", title: "Signal", place: "lane", over: "drawn", steady: true, model: groupsModel },
  {
    id: "length",
    title: "Response length",
    place: "lane",
    over: "all",
    model: lengthModel,
  },
  {
    id: "versions",
    title: "Policy versions",
    place: "lane",
    over: "admitted",
    optional: true,
    model: together(
      "policy version",
      "number",
      [
        { metric: "rollout/staleness", name: "updates since a rollout began" },
        { metric: "rollout/staleness/max", name: "most" },
      ],
      1,
    ),
  },
  {
    id: "entropy",
    title: "Entropy",
    place: "lane",
    over: "all",
    model: pair(
      "entropy",
      { metric: "policy/entropy", name: "nats per token", tone: 2, dash: 0, format: "number" },
      undefined,
      0.05,
    ),
  },
  {
    id: "update",
    title: "Update",
    place: "lane",
    over: "admitted",
    model: pair(
      "loss",
      { metric: "update/loss", name: "loss", tone: 0, dash: 0, format: "number" },
      { metric: "update/grad_norm", name: "gradient norm", tone: 1, dash: 1, format: "number" },
      0.01,
    ),
  },
  {
    id: "clip",
    title: "Clipped tokens",
    place: "lane",
    over: "admitted",
    model: together(
      "clip",
      "fraction",
      [
        { metric: "update/clip_low", name: "low" },
        { metric: "update/clip_high", name: "high" },
        { metric: "update/clip_fraction", name: "both" },
        { metric: "update/ess", name: "effective samples", axis: "right" },
      ],
      0.01,
    ),
  },
  {
    id: "divergence",
    title: "Divergence: nats per token",
    place: "lane",
    over: "admitted",
    model: together(
      "divergence",
      "number",
      [
        { metric: "policy/kl/reference", name: "from the reference" },
        { metric: "update/anchor_kl", name: "from the old policy" },
        { metric: "mismatch/k3", name: "sampler from trainer" },
        { metric: "mismatch/band", name: "its upper limit" },
      ],
      0.001,
    ),
  },
  {
    id: "curriculum",
    title: "Curriculum: share per arm",
    place: "lane",
    over: "drawn",
    model: curriculumModel,
  },
  {
    id: "turnover",
    title: "Held-out tasks: right, and lost again",
    place: "lane",
    over: "held-out",
    optional: true,
    model: turnoverModel,
  },
  {
    id: "estimate",
    title: "Curriculum: estimate per arm",
    place: "more",
    optional: true,
    model: estimateModel,
  },
  { id: "admission", title: "Groups drawn and trained", place: "more", over: "drawn", model: admissionModel },
  {
    id: "criteria",
    title: "Criteria: share met",
    place: "more",
    over: "all",
    optional: true,
    model: criteriaModel,
  },
  { id: "weights", title: "Weights of the reward terms", place: "more", optional: true, model: weightsModel },
  {
    id: "spent",
    title: "Tokens by group outcome",
    place: "more",
    over: "drawn",
    optional: true,
    model: spentModel,
  },
  { id: "time", title: "Time per phase", place: "more", model: timeModel },
  { id: "memory", title: "Memory", place: "more", model: memoryModel },
];
