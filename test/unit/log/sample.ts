/** Records of every kind, as a short run would write them. */
import type { LogRecord } from "../../../shared/log/records.ts";

export type Written = Exclude<LogRecord, { kind: "commit" }>;

export const start = (attempt = 0, resumedAt: number | null = null, run = "sample"): Written => ({
  kind: "start",
  run,
  attempt,
  resumed_at: resumedAt,
  name: "sample",
  file: "/project/sample.gradus.yaml",
  authored: "name: sample\n",
  config: { name: "sample", steps: 4 },
  seed: 1,
  steps: 4,
  backend: { name: "wasm", reason: "test", device: "cpu" },
  git: { commit: "0123abc", dirty: true },
  version: "0.1.0",
  started_at: "2026-01-01T00:00:00.000Z",
  bundles: { brevity: "ab12" },
});
export const metrics = (
  step: number,
  values: Record<string, number | "NaN" | "Infinity" | "-Infinity"> = { "reward/total": step / 7 },
): Written => ({ kind: "metrics", step, time: step + 0.5, values });
export const group = (step: number, name = "task-1"): Written => ({
  kind: "group",
  step,
  group: name,
  task: "countdown 3 4",
  arm: "countdown/3",
  admitted: step % 2 === 0,
  reason: step % 2 === 0 ? null : "all right",
  successes: 1,
  size: 2,
  signal: 0.25,
});
export const rollout = (step: number, index: number, name = "task-1"): Written => ({
  kind: "rollout",
  step,
  index,
  row: {
    step,
    group: name,
    index,
    task: { env: "countdown", arm: "countdown/3", id: "countdown 3 4" },
    prompt: "Make 7 from 3 and 4 →",
    response: `3 + 4\u2028 "x" é 😀 ${index}`,
    finish: index === 0 ? "stop" : "length",
    source: "self",
    use: "train",
    rewards: { correct: index, brevity: "NaN", bonus: null },
    errors: { style: "timeout after 2 s" },
    reward: index - 0.5,
    advantage: index === 0 ? -1.25 : 1.25,
    admitted: true,
  },
  columns: {
    tokens: Int32Array.from([3, 1, 4, 1 + index]),
    origin: Uint8Array.from([1, 0, 0, 0]),
    mask: Uint8Array.from([0, 1, 1, 1]),
    logp_old: Float32Array.from([Number.NaN, -0.5, -1.25, -0]),
    logp_new: Float64Array.from([Number.NaN, -0.1, -1e-9, Number.NEGATIVE_INFINITY]),
  },
});
/** What `judged` rollouts of the same commit are judged by. */
export const criteria = (step: number): Written => ({
  kind: "criteria",
  step,
  id: "0123456789abcdef",
  criteria: [
    { name: "dose", text: 'names the "dose"', points: 5 },
    { text: "recommends what is harmful", points: -4, veto: true },
  ],
});
export const judged = (step: number, index: number, met: readonly (number | null)[]): Written => {
  const written = rollout(step, index);
  if (written.kind !== "rollout") return written;
  return { ...written, row: { ...written.row, judged: { style: { of: "0123456789abcdef", met } } } };
};
export const event = (step: number): Written => ({
  kind: "event",
  step,
  time: 3,
  severity: "warning",
  name: "entropy-low",
  message: "Entropy fell",
  action: "Raise objective.entropy",
  data: { value: 1e-7, list: [1, 2.5e21, null, true] },
});
export const evaluation = (step: number, role: "first" | "periodic" | "last"): Written => ({
  kind: "evaluation",
  step,
  time: 9,
  role,
  metrics: { "eval/pass@1": 0.25, "eval/greedy": 0.5 },
});
export const checkpoint = (step: number): Written => ({
  kind: "checkpoint",
  step,
  path: `checkpoints/${step}`,
  bytes: 1234,
});
export const stage = (step: number): Written => ({
  kind: "stage",
  step,
  index: 0,
  name: "warm-up",
  stage_kind: "sft",
});
export const acknowledge = (step: number, id: string): Written => ({
  kind: "acknowledge",
  step,
  id,
  accepted: true,
  message: "paused",
});
export const end = (step: number, status: "finished" | "stopped" | "failed" = "finished"): Written => ({
  kind: "end",
  step,
  status,
  message: "",
  seconds: 12.5,
  ended_at: "2026-01-01T00:01:00.000Z",
});
export const made = (
  step: number,
  id = "countdown 2 2",
  parents: readonly string[] = ["countdown 3 4"],
): Written => ({
  kind: "task",
  step,
  source: "easier",
  id,
  prompt: "Make 4 from 2 and 2 →",
  answer: null,
  parents,
  generation: 1,
  transform: "simplify",
  author: "program",
  answered: "program",
  tried: { successes: 1, rollouts: 4 },
});
