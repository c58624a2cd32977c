/** Runs of one config with other values and seeds, as their logs tell of them: no worker made them. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openAttempt } from "../../shared/log/writer.ts";
import type { JsonObject } from "../../shared/lib/json.ts";
import { keepText, writeSources } from "../../shared/run/sources.ts";
import { runFolder } from "../../server/store/files.ts";
import { randomStream } from "../../server/lib/random.ts";

export interface MadeRun {
  readonly id: string;
  readonly lr?: number;
  readonly seed?: number;
  /** Made, of those that are planned. */
  readonly steps?: number;
  /** Where the reward ends up, and pass@1 with it. */
  readonly gain?: number;
  readonly brevity?: number;
  /** Text of its reward file. */
  readonly reward?: string;
  /** Whether evaluations have results task by task. */
  readonly results?: boolean;
  readonly status?: "finished" | "failed" | "stopped";
  /** ISO 8601. */
  readonly startedAt?: string;
  readonly parent?: { readonly run: string; readonly step: number };
  readonly name?: string;
}

const planned = 120;
const tasks = 64;
const samples = 8;

/** As a config's author writes it. */
const authored = ({ name = "sums", lr = 1e-5, brevity, seed = 1 }: MadeRun): string =>
  `name: ${name}
extends: grpo
model: { base: tiny }
tasks:
  - { name: countdown, env: countdown, numbers: [3, 4] }
rollout: { prompts: 16, group: 8, max_tokens: 48 }
reward:
  terms:
    correct: { use: equation, weight: 1 }
${brevity === undefined ? "" : `    brevity: { use: ./rewards/brevity.ts, weight: ${brevity} }\n`}update: { optimizer: { use: adamw, lr: ${lr} } }
evaluation: { every: 20, prompts: ${tasks}, pass_at: [1, 8] }
seed: ${seed}
`;

const configOf = ({ name = "sums", lr = 1e-5, brevity, seed = 1 }: MadeRun): JsonObject => ({
  name,
  seed,
  model: { base: "tiny" },
  tasks: [{ name: "countdown", env: "countdown", numbers: [3, 4] }],
  rollout: { prompts: 16, group: 8, max_tokens: 48 },
  reward: {
    terms: {
      correct: { use: "equation", weight: 1 },
      ...(brevity === undefined ? {} : { brevity: { use: "./rewards/brevity.ts", weight: brevity } }),
    },
  },
  update: { optimizer: { use: "adamw", lr } },
  evaluation: { every: 20, prompts: tasks, pass_at: [1, 8] },
  stages: [{ name: "train", kind: "rl", steps: planned }],
});

/** Writes the run into a store's folder. @param project the folder with its config */
export function makeRun(store: string, project: string, run: MadeRun): void {
  const { id, seed = 1, steps = planned, gain = 0.3, status = "finished", parent, name = "sums" } = run;
  const startedAt = run.startedAt ?? "2026-01-01T10:00:00.000Z";
  const folder = runFolder(store, id);
  const file = join(project, `${name}.gradus.yaml`);
  mkdirSync(folder, { recursive: true });
  const own = {
    id,
    file,
    name,
    set: [],
    seed,
    createdAt: startedAt,
    ...(parent === undefined ? {} : { parent }),
  };
  writeFileSync(join(folder, "run.json"), JSON.stringify(own));
  const log = openAttempt(folder, 0);
  log.append({
    kind: "start",
    run: id,
    attempt: 0,
    resumed_at: null,
    name,
    file,
    authored: authored(run),
    config: configOf(run),
    seed,
    steps: planned,
    backend: { name: "native", reason: "test", device: "cpu" },
    git: { commit: "0123abc", dirty: false },
    version: "0.1.0",
    started_at: startedAt,
    bundles: {},
  });
  log.append({ kind: "stage", step: 0, index: 0, name: "train", stage_kind: "rl" });
  const random = randomStream(seed, "draw", id);
  for (let step = 0; step < steps; step++) {
    const done = (step + 1) / planned;
    const reward = 0.1 + gain * (1 - Math.exp(-3 * done)) + 0.06 * (random.next() - 0.5);
    log.append({
      kind: "metrics",
      step,
      time: Date.parse(startedAt) + step * 2_000,
      values: {
        "reward/total": reward,
        "reward/correct": reward * 0.9,
        "groups/mixed": 0.5 + 0.2 * random.next(),
        "rollout/length": 24 - 6 * done + random.next(),
        "policy/entropy": 1.4 - 0.7 * done,
      },
    });
    if ((step + 1) % 20 === 0 || step === 0) {
      for (const record of answers(run, step)) log.append(record);
      log.append(evaluation(run, step, done));
    }
    log.commit(step);
  }
  log.append({
    kind: "end",
    step: steps - 1,
    status,
    message: status === "failed" ? "The reward file has a syntax error." : "",
    seconds: steps * 2,
    ended_at: new Date(Date.parse(startedAt) + steps * 2_000).toISOString(),
  });
  log.commit(steps - 1);
  log.close();
  if (run.reward !== undefined) keepReward(folder, run.reward);
}

type Written = Parameters<ReturnType<typeof openAttempt>["append"]>[0];

/** Greedy answers to the first held-out tasks. */
function answers({ seed = 1, gain = 0.3, lr = 1e-5 }: MadeRun, step: number): Written[] {
  const random = randomStream(seed, "draw", "answers", String(lr), step);
  return Array.from({ length: 8 }, (_, task) => {
    const right = random.next() < 0.3 + gain;
    const [one, two, three] = [2 + task, 3 + ((task * 5) % 7), 4 + ((task * 3) % 5)];
    return {
      kind: "rollout",
      step,
      index: 2 * task,
      row: {
        step,
        group: `evaluation-${task}`,
        index: 0,
        task: { env: "countdown", arm: "countdown/3", id: `task-${task}` },
        prompt: `${one} ${two} ${three}=${one * two + three}:`,
        response: right ? `${one}*${two}+${three}` : `${one}+${two}*${three}`,
        finish: "stop",
        source: "self",
        use: "evaluate",
        rewards: { correct: Number(right) },
        reward: Number(right),
      },
      columns: {},
    };
  });
}

function evaluation({ seed = 1, gain = 0.3, results = true }: MadeRun, step: number, done: number): Written {
  // How hard a task is is the same for every run.
  const hard = randomStream(0, "draw", "tasks");
  const luck = randomStream(seed, "draw", step);
  const right = Array.from({ length: tasks }, () => {
    const chance = Math.min(0.95, Math.max(0, 0.75 * hard.next() + gain * done - 0.2));
    return Array.from({ length: samples }, () => luck.next() < chance).filter(Boolean).length;
  });
  const arms = right.map((_, at) => (at % 2 === 0 ? "countdown/3" : "countdown/4"));
  const share = (arm?: string): number => {
    const own = right.filter((_, at) => arm === undefined || arms[at] === arm);
    return own.reduce((sum, one) => sum + one / samples, 0) / own.length;
  };
  return {
    kind: "evaluation",
    step,
    time: step,
    role: step === 0 ? "first" : "last",
    metrics: {
      "eval/pass@1": share(),
      "eval/pass@8": right.filter((one) => one > 0).length / tasks,
      "eval/countdown/3/pass@1": share("countdown/3"),
      "eval/countdown/4/pass@1": share("countdown/4"),
    },
    ...(results
      ? {
          results: {
            tasks: right.map((_, at) => `task-${at}`),
            arms,
            samples: right.map(() => samples),
            right,
            greedy: right.map((one) => Number(one > samples / 2)),
          },
        }
      : {}),
  };
}

function keepReward(folder: string, text: string): void {
  const sha256 = createHash("sha256").update(text).digest("hex");
  const kept = `${sha256.slice(0, 12)}-brevity.ts`;
  keepText(folder, kept, text);
  writeSources(folder, 0, {
    gradus: "0.1.0",
    node: "22.1.0",
    rewards: [{ term: "brevity", files: [{ path: "rewards/brevity.ts", sha256, kept }] }],
    environments: [],
    tools: [],
    data: [],
    python: null,
  });
}

/** A project with a store: three seeds of one learning rate, two of another, one whose reward was edited, and a fork. */
export function makeExperiment(project: string, store = join(project, ".gradus")): string {
  mkdirSync(project, { recursive: true });
  mkdirSync(dirname(join(store, "runs")), { recursive: true });
  writeFileSync(join(project, "sums.gradus.yaml"), authored({ id: "" }));
  const day = (hour: number): string => `2026-01-01T${String(hour).padStart(2, "0")}:00:00.000Z`;
  const runs: readonly MadeRun[] = [
    { id: "base-1", seed: 1, startedAt: day(8) },
    { id: "base-2", seed: 2, startedAt: day(9) },
    { id: "base-3", seed: 3, startedAt: day(10), steps: 100, status: "stopped" },
    { id: "slow-1", lr: 3e-6, seed: 1, gain: 0.12, startedAt: day(11) },
    { id: "slow-2", lr: 3e-6, seed: 2, gain: 0.12, startedAt: day(12) },
    { id: "brief-1", brevity: 0.1, reward: "export const score = () => 1;\n", startedAt: day(13) },
    {
      id: "brief-2",
      brevity: 0.1,
      reward: "export const score = () => 0;\n",
      startedAt: day(14),
      status: "failed",
      steps: 40,
    },
    { id: "forked", lr: 2e-5, startedAt: day(15), gain: 0.45, parent: { run: "base-1", step: 59 } },
  ];
  for (const run of runs) makeRun(store, project, run);
  return store;
}

/** Runs of three configs, days apart: seeds of learning rates, most of them finished. */
export function makeSweep(project: string, count: number, store = join(project, ".gradus")): string {
  mkdirSync(project, { recursive: true });
  const names = ["words", "maths", "sums", "sums", "sums"] as const;
  for (const name of new Set(names))
    writeFileSync(join(project, `${name}.gradus.yaml`), authored({ id: "", name }));
  const rates = [1e-5, 3e-6, 3e-5, 1e-4] as const;
  for (let at = 0; at < count; at++) {
    const own = Math.floor(at / names.length);
    const lr = rates[own % rates.length]!;
    makeRun(store, project, {
      id: `${names[at % names.length]}-${String(at).padStart(3, "0")}`,
      name: names[at % names.length]!,
      lr,
      seed: 1 + Math.floor(own / rates.length),
      gain: 0.3 - 0.1 * Math.abs(Math.log10(lr) + 4.7),
      startedAt: new Date(Date.UTC(2026, 0, 1) + at * 3 * 3_600_000).toISOString(),
      ...(at % 17 === 5 ? { status: "failed", steps: 30 } : {}),
      ...(at % 23 === 7 ? { status: "stopped", steps: 80 } : {}),
    });
  }
  return store;
}
