/** What a comparison of four runs in three groups says: seeds, another reward, a held-out difference. */
import { compareVersion, type ToCompare } from "../../shared/editor/comparePanel.ts";
import type { Comparison, GroupSeries } from "../../shared/run/comparison.ts";

const course = (group: number, runs: number, steps: number, level: number): GroupSeries => ({
  group,
  steps: Array.from({ length: steps }, (_, step) => step),
  n: Array.from({ length: steps }, () => runs),
  mean: Array.from({ length: steps }, (_, step) => level * (1 - Math.exp(-step / 10))),
  spread: Array.from({ length: steps }, () => (runs > 1 ? 0.04 : null)),
  error: Array.from({ length: steps }, () => (runs > 1 ? 0.02 : null)),
});

export const found: Comparison = {
  runs: [
    { id: "base-1", name: "sums", label: "sums", seed: 1, group: 0, step: 39, sources: false },
    { id: "base-2", name: "sums", label: "seed 2", seed: 2, group: 0, step: 39, sources: false },
    { id: "brief-1", name: "sums", label: "+brevity", seed: 1, group: 1, step: 29, sources: true },
    { id: "brief-2", name: "sums", label: "+brevity", seed: 1, group: 2, step: 39, sources: true },
  ],
  groups: [
    { label: "sums", runs: [0, 1] },
    { label: "+brevity", runs: [2] },
    { label: "other brevity.ts", runs: [3] },
  ],
  sources: [{ kind: "reward", name: "rewards/brevity.ts", values: [null, null, "aaaa", "bbbb"] }],
  config: [
    {
      path: "update.optimizer.lr",
      values: [
        { value: 1e-5, by: "default" },
        { value: 1e-5, by: "default" },
        { value: 3e-6, by: "file" },
        { value: 3e-6, by: "set" },
      ],
    },
  ],
  series: [
    { metric: "reward/total", groups: [course(0, 2, 40, 0.5), course(1, 1, 30, 0.3), course(2, 1, 40, 0.6)] },
    { metric: "eval/pass@1", groups: [] },
  ],
  heldOut: [
    {
      metric: "eval/pass@1",
      group: 1,
      before: 0.4,
      after: 0.3,
      difference: -0.1,
      low: -0.15,
      high: -0.05,
      tasks: 64,
      method: "paired",
      reason: null,
    },
  ],
  arms: [
    { arm: "easy", values: [0.5, 0.4, null] },
    { arm: "hard", values: [0.3, 0.2, 0.1] },
  ],
  notes: ["2 groups of 3 have one seed: the difference may be that of the seeds."],
};

export const comparison: ToCompare = { version: compareVersion, type: "comparison", comparison: found };
export const tasks: ToCompare = {
  version: compareVersion,
  type: "tasks",
  other: 1,
  pairs: [{ key: "t#0", prompt: "2 3=6:", rewards: [1, 0], responses: ["2*3", "2+3"] }],
};
