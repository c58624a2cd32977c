/** Choosing and updating with a million tasks, by sampler and estimator: milliseconds of the fastest of some steps and bytes a task. `[--tasks=1000000] [--steps=100]` */
import type { Capability } from "../server/core/declaration.ts";
import { estimators, samplers } from "../server/methods/curriculum/index.ts";
import { curriculumOfMany, held, prompts, trainedStep } from "../test/unit/methods/curriculum/largePool.ts";
import { measured, option } from "./report.ts";

const [tasks, steps] = [option("tasks", 1_000_000), option("steps", 100)];
const setting = `${tasks.toLocaleString("en")} tasks, ${prompts} a step, 8 rollouts each`;

/** Those of the fast contract, without samplers of points and of mixtures, which have no pool of tasks. */
const plain = ["epsilon_greedy"];
const sampled = samplers.filter(
  ({ name, takes = [] }) =>
    !plain.includes(name) && !takes.some((need) => need === "points" || need === "mixtures"),
);
const estimated = [
  "ema",
  "window",
  "last",
  "windows",
  "beta",
  "beta_restart",
  "pooled_beta",
  "rasch",
  "static",
] as const;
const written: Readonly<Record<string, string>> = {
  static: "{ use: static, by: field, field: score }",
  windows: "{ use: windows, size: 1 }",
};
const gives = (estimator: string): readonly Capability[] =>
  estimators.find(({ name }) => name === estimator)?.gives ?? [];

/** The rewards of `graded` are any numbers, so that hardly two arms that were drawn are alike. */
async function step(sampler: string, estimator: string, graded = false): Promise<readonly [number, number]> {
  const before = held();
  const text = `{ arms: prompt, signal: ${graded ? "reward" : "success_rate"}, estimator: ${written[estimator] ?? estimator}, sampler: ${sampler} }`;
  const curriculum = curriculumOfMany(text, tasks);
  const times: number[] = [];
  for (let at = 0; at < steps; at++) {
    let time = 0;
    await trainedStep(curriculum, at, graded, async (work) => {
      const from = performance.now();
      const value = await work();
      time += performance.now() - from;
      return value;
    });
    times.push(time);
  }
  return [Math.min(...times.slice(steps / 2)), (held() - before) / tasks];
}

const [times, bytes] = [new Map<string, number>(), new Map<string, number>()];
console.log(`| ms a step (bytes a task) | ${estimated.join(" | ")} |`);
console.log(`| --- | ${estimated.map(() => "---").join(" | ")} |`);
for (const { name, takes = [] } of sampled) {
  const cells: string[] = [];
  for (const estimator of estimated) {
    const fits = takes.every((need) => need === "rate" || gives(estimator).includes(need));
    if (!fits) {
      cells.push("");
      continue;
    }
    const [ms, each] = await step(name, estimator);
    times.set(`${name} over ${estimator}`, ms);
    bytes.set(`${name} over ${estimator}`, each);
    cells.push(`${ms.toFixed(1)} (${each.toFixed(0)})`);
  }
  console.log(`| ${name} | ${cells.join(" | ")} |`);
}

const worst = (of: ReadonlyMap<string, number>): readonly [string, number] =>
  [...of].reduce((most, one) => (one[1] > most[1] ? one : most));
const [slowest, ms] = worst(times);
measured({ what: `choosing and updating, the slowest: ${slowest}`, value: ms, unit: "ms", goal: 5, setting });
const [largest, each] = worst(bytes);
measured({ what: `memory, the largest: ${largest}`, value: each, unit: "bytes a task", goal: 100, setting });
for (const sampler of ["boltzmann", "ucb_softmax", "sorted", "gaussian_window"])
  measured({
    what: `choosing and updating, ${sampler} over ema, rewards that are any number`,
    value: (await step(sampler, "ema", true))[0],
    unit: "ms",
    setting,
  });
