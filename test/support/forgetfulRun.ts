/** A run that learns hard tasks and loses easy ones, written as a log: seven evaluations, and answers to every fourth task. */
import { mkdirSync, writeFileSync } from "node:fs";
import { openAttempt } from "../../shared/log/writer.ts";
import { loadConfig } from "../../server/rules/load.ts";
import { runFolder } from "../../server/store/files.ts";
import { join } from "node:path";

const authored = `name: forgetful
model: { base: tiny, width: 32, layers: 1, heads: 2, context: 48 }
tasks: [{ env: countdown, numbers: [2, 3] }]
curriculum: { arms: difficulty }
rollout: { max_tokens: 20 }
reward: { terms: { correct: { use: equation, weight: 1 } } }
stages:
  - { name: all, steps: 61 }
`;
const evaluated = [0, 10, 20, 30, 40, 50, 60];

/** Of 20 easy tasks eight are lost after step 20; of 20 hard ones two more are learned at each evaluation. */
const isRight = (task: number, step: number): boolean =>
  task < 20 ? task >= 8 || step <= 20 : task - 20 < step / 5;
/** A task that is right is so nearly always; the others are so now and then at first. */
const rightOf = (task: number, step: number): number => (isRight(task, step) ? 7 : step === 0 ? 1 : 0);
const all = Array.from({ length: 40 }, (_, task) => task);
const idOf = (task: number): string => `countdown:${task}=24`;
const armOf = (task: number): string => (task < 20 ? "countdown/2" : "countdown/3");

/** @returns its id */
export function writeForgetfulRun(store: string, file: string): string {
  const id = "forgetful-20260101-100000-abcd";
  const folder = runFolder(store, id);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, authored);
  const [name, startedAt] = ["forgetful", "2026-01-01T10:00:00.000Z"];
  writeFileSync(
    join(folder, "run.json"),
    JSON.stringify({ id, file, name, set: [], seed: 1, createdAt: startedAt }),
  );
  const log = openAttempt(folder, 0);
  log.append({
    ...{ kind: "start", run: id, attempt: 0, resumed_at: null, name, file, authored, seed: 1, steps: 61 },
    config: loadConfig(file).tree,
    backend: { name: "native", reason: "test", device: "cpu" },
    ...{ git: null, version: "0.1.0", started_at: startedAt, bundles: {} },
  });
  log.append({ kind: "stage", step: 0, index: 0, name: "all", stage_kind: "rl" });
  log.commit(0);
  for (const step of evaluated) {
    for (const task of all.filter((one) => one % 4 === 0)) {
      const right = isRight(task, step);
      log.append({
        ...{ kind: "rollout", step, index: task, columns: {} },
        row: {
          ...{ step, group: idOf(task), index: 0, use: "evaluate", prompt: `${task} 2=24:`, finish: "stop" },
          task: { env: "countdown", arm: armOf(task), id: idOf(task), data: {} },
          response: right ? `right ${task}` : `wrong ${task} <b>`,
          rewards: { correct: Number(right) },
          reward: Number(right),
        },
      });
    }
    const right = all.map((task) => rightOf(task, step));
    log.append({
      ...{ kind: "evaluation", step, time: step, role: step === 0 ? "first" : "periodic" },
      metrics: {
        "eval/pass@1": right.reduce((sum, one) => sum + one / 8, 0) / all.length,
        "eval/greedy": all.filter((task) => isRight(task, step)).length / all.length,
      },
      results: {
        ...{ tasks: all.map(idOf), arms: all.map(armOf), samples: all.map(() => 8), right },
        greedy: all.map((task) => Number(isRight(task, step))),
      },
    });
    log.append({
      kind: "metrics",
      step,
      time: step,
      values: { "reward/total": 0.1 + step / 100, "time/total": 2 },
    });
    log.commit(step);
  }
  const ended_at = "2026-01-01T10:02:00.000Z";
  log.append({ kind: "end", step: 60, status: "finished", message: "", seconds: 120, ended_at });
  log.commit(60);
  log.close();
  return id;
}
