/** A run that is rewarded for saying nothing and ends up doing so, written as a log: the same each time, in milliseconds. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openAttempt } from "../../shared/log/writer.ts";
import type { LogRecord } from "../../shared/log/records.ts";
import { runFolder } from "../../server/store/files.ts";
import { loadConfig } from "../../server/rules/load.ts";

const steps = 60;
const [prompts, size] = [8, 8];
const weight = 0.1;

const authored = `name: starter
tasks: [{ env: countdown, numbers: [3] }]
rollout: { prompts: ${prompts}, group: ${size}, max_tokens: 24 }
reward:
  terms:
    correct: { use: equation, weight: 1 }
    brevity: { use: ./brevity.ts, weight: ${weight} }
  success: { terms: [correct], at_least: 1 }
steps: ${steps}
evaluation: { every: 20, prompts: 64, pass_at: [1] }
seed: 1
`;

type Written = Exclude<LogRecord, { kind: "commit" }>;

/** Share of what it will lose that it has lost. */
const lost = (step: number): number => Math.min(1, Math.max(0, (step - 20) / 15));
const brevityOf = (response: string): number => 1 - Math.min(response.length, 48) / 48;

/** What a policy says that has lost some of what it could: only the first rollouts of a group are ever right. */
function responseOf(step: number, group: number, index: number): string {
  const silent = index / size < lost(step) || lost(step) === 1;
  return silent ? "" : index >= size - 3 && group % 2 === 0 ? "7*5-2" : "7*5-2-1+1*1";
}

function* stepOf(step: number, first: string | undefined): Generator<Written> {
  const groups = Array.from({ length: prompts }, (_, group) => {
    const rollouts = Array.from({ length: size }, (_unused, index) => {
      const isFirst = step === 0 && group === 0 && index === 0;
      const response = (isFirst ? first : undefined) ?? responseOf(step, group, index);
      const [correct, brevity] = [Number(response === "7*5-2"), brevityOf(response)];
      return { index, response, correct, brevity, reward: correct + weight * brevity };
    });
    const mean = rollouts.reduce((sum, { reward }) => sum + reward, 0) / size;
    const equal = rollouts.every(({ reward }) => reward === rollouts[0]!.reward);
    const spread = equal
      ? 0
      : Math.sqrt(rollouts.reduce((sum, { reward }) => sum + (reward - mean) ** 2, 0) / (size - 1));
    return { group, rollouts, mean, spread };
  });
  const all = groups.flatMap(({ rollouts }) => rollouts);
  const share = (holds: (group: (typeof groups)[number]) => boolean): number =>
    groups.filter(holds).length / prompts;
  const average = (of: (one: (typeof all)[number]) => number): number =>
    all.reduce((sum, one) => sum + of(one), 0) / all.length;
  for (const { group, rollouts, mean, spread } of groups)
    for (const { index, response, correct, brevity, reward } of rollouts)
      yield {
        kind: "rollout",
        step,
        index: group * size + index,
        row: {
          step,
          group: `${step}/${group}`,
          index,
          task: {
            env: "countdown",
            arm: "countdown/3",
            id: `t${group}`,
            data: { numbers: [7, 5, 2], target: 33 },
          },
          prompt: "7 5 2=33:",
          response,
          finish: "stop",
          source: "self",
          use: "train",
          rewards: { correct, brevity },
          reward,
          advantage: spread === 0 ? 0 : (reward - mean) / (spread + 1e-4),
          admitted: true,
        },
        columns: {},
      };
  for (const { group, rollouts } of groups)
    yield {
      kind: "group",
      step,
      group: `${step}/${group}`,
      task: `t${group}`,
      arm: "countdown/3",
      admitted: true,
      reason: null,
      successes: rollouts.filter(({ correct }) => correct === 1).length,
      size,
      signal: null,
    };
  yield {
    kind: "metrics",
    step,
    time: step,
    values: {
      "rollout/count": all.length,
      "groups/drawn": prompts,
      "groups/success_rate": average(({ correct }) => correct) + 0.001 * Math.sin(step),
      "groups/all_wrong": share(({ rollouts }) => rollouts.every(({ correct }) => correct === 0)),
      "groups/zero_advantage": share(({ spread }) => spread === 0),
      "reward/total": average(({ reward }) => reward),
      "reward/correct": average(({ correct }) => correct),
      "reward/correct/weight": 1,
      "reward/brevity": average(({ brevity }) => brevity) + 0.001 * Math.sin(step),
      "reward/brevity/weight": weight,
      "rollout/length": average(({ response }) => response.length) + 0.01 * Math.sin(step),
      "policy/entropy": 1 - 0.95 * lost(step) + 0.01 * Math.sin(step),
      "tokens/trained": 300,
      "update/loss": 0.01,
    },
  };
}

const evaluation = (step: number, role: "first" | "periodic" | "last"): Written => {
  const tasks = Array.from({ length: 64 }, (_, task) => task);
  const right = tasks.map((task): number => (task % 3 === 0 && lost(step) < 1 ? 2 : 0));
  return {
    kind: "evaluation",
    step,
    time: step,
    role,
    metrics: { "eval/pass@1": right.reduce((sum, one) => sum + one / 4, 0) / 64 },
    results: {
      tasks: tasks.map((task) => `held-${task}`),
      arms: tasks.map(() => "countdown/3"),
      samples: tasks.map(() => 4),
      right,
      greedy: tasks.map(() => null),
    },
  };
};

/** Writes the config, and next to it the reward that it names. */
export function writeStarter(file: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, authored);
  writeFileSync(
    join(dirname(file), "brevity.ts"),
    "export const score = ({ response }: { response: string }) => 1 - Math.min(response.length, 48) / 48;\n",
  );
}

/**
 * Writes the run, and the config that it trained by.
 * @param first what the run's first rollout says instead
 * @param checkpoint the step after which it says that it saved one; the caller provides its files
 * @param bundles hashes of the reward's bundle, by which an editor knows that the file is still the run's
 */
export function writeCollapsedRun(
  store: string,
  file: string,
  {
    first,
    bundles = {},
    checkpoint,
  }: { first?: string; bundles?: Readonly<Record<string, string>>; checkpoint?: number } = {},
): string {
  const id = "starter-20260101-100000-abcd";
  const folder = runFolder(store, id);
  mkdirSync(folder, { recursive: true });
  writeStarter(file);
  const config = loadConfig(file).tree;
  writeFileSync(
    join(folder, "run.json"),
    JSON.stringify({ id, file, name: "starter", set: [], seed: 1, createdAt: "2026-01-01T10:00:00.000Z" }),
  );
  const log = openAttempt(folder, 0);
  log.append({
    kind: "start",
    run: id,
    attempt: 0,
    resumed_at: null,
    name: "starter",
    file,
    authored,
    config,
    seed: 1,
    steps,
    backend: { name: "native", reason: "test", device: "cpu" },
    git: null,
    version: "0.1.0",
    started_at: "2026-01-01T10:00:00.000Z",
    bundles: { ...bundles },
  });
  log.append({ kind: "stage", step: 0, index: 0, name: "rl", stage_kind: "rl" });
  log.append(evaluation(-1, "first"));
  log.commit(-1);
  for (let step = 0; step < steps; step++) {
    for (const record of stepOf(step, first)) log.append(record);
    if (step === checkpoint)
      log.append({
        kind: "checkpoint",
        step,
        path: join(folder, "checkpoints", String(step)),
        bytes: 3_000_000,
      });
    if ((step + 1) % 20 === 0) log.append(evaluation(step, step === steps - 1 ? "last" : "periodic"));
    log.commit(step);
  }
  log.append({
    kind: "end",
    step: steps - 1,
    status: "finished",
    message: "",
    seconds: 60,
    ended_at: "2026-01-01T10:01:00.000Z",
  });
  log.commit(steps - 1);
  log.close();
  return id;
}
