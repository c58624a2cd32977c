/** Environments: tasks drawn and episodes begun and taken one turn on, a second, in one process. */
import { performance } from "node:perf_hooks";
import { create } from "../server/core/create.ts";
import { randomStream } from "../server/lib/random.ts";
import { taskSources } from "../server/methods/tasks/index.ts";
import { worlds } from "../server/methods/tasks/worlds/index.ts";
import { measured, option } from "./report.ts";

/** Tasks a second. */
const goal = 10_000;
const seconds = option("seconds", 1);

const sourceOf = (name: string) => {
  const declaration = taskSources.find((one) => one.name === name)!;
  return create(
    { use: name, declaration, params: declaration.params.parse({}), folder: process.cwd() },
    { random: randomStream(1, name), max_tokens: 16, group: 8 },
  );
};

for (const { name } of worlds) {
  const source = sourceOf(name);
  const environment = await source.play!.open();
  // The easiest difficulty: the others are larger, and draw longer.
  const value = source.values[0];
  const work = async (number: number): Promise<void> => {
    const task = source.draw("train", value, randomStream(1, "draw", number))!;
    await environment.reset(task, number);
    await environment.step(task.answer ?? "north");
  };
  for (let number = 0; number < 2000; number++) await work(number);
  let tasks = 0;
  const began = performance.now();
  while (performance.now() - began < seconds * 1000) await work(2000 + tasks++);
  const taken = (performance.now() - began) / 1000;
  measured({
    what: `tasks of ${name}`,
    value: tasks / taken,
    unit: "a second",
    goal,
    least: true,
    setting: `${name}/${value}`,
  });
}
