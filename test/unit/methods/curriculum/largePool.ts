/** A curriculum over very many tasks, and steps of it. */
import assert from "node:assert/strict";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { contextOf } from "../../../../server/algorithm/algorithm.ts";
import { Curriculum } from "../../../../server/algorithm/curriculum/curriculum.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { Task } from "../../../../server/core/task.ts";
import type { TaskSource } from "../../../../server/core/slots/tasks.ts";
import type { Group } from "../../../../server/core/rollouts.ts";
import { configOf } from "../../support.ts";
import { at, group } from "./support.ts";

/** Tasks are made when somebody asks for them; each has a score of its own in `data`. */
const poolSource = (size: number): TaskSource => ({
  name: "countdown",
  values: [],
  draw: () => null,
  valueOf: () => undefined,
  pool: () => ({
    size,
    task: (number): Task => ({
      id: String(number),
      source: "countdown",
      env: "countdown",
      prompt: "",
      data: { score: (number * 0.6180339887498949) % 1 },
    }),
  }),
  save: () => ({ json: null }),
  load: () => undefined,
});

export function curriculumOfMany(text: string, size: number): Curriculum {
  const { top } = configOf(
    `tasks: [{ env: countdown }]\nreward: { terms: { right: equation } }\ncurriculum: ${text}\n`,
  );
  const sources = [{ config: { name: "countdown", weight: 1 }, source: poolSource(size) }];
  return new Curriculum(top.curriculum, sources, contextOf(top, { random: randomStream(1) }));
}

export const prompts = 64;

/** What a task of the pool earns: 8 rewards, right or wrong, or any number where `graded`. */
export function outcome(arm: string, task: Task, step: number, graded: boolean): Group {
  const random = randomStream("outcome", step, arm);
  const rewards = Array.from({ length: 8 }, () => (graded ? random.next() : Number(random.next() < 0.4)));
  const centre = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  return group(rewards, { arm, task, advantages: Float64Array.from(rewards, (reward) => reward - centre) });
}

/** One step. @param around what the curriculum does of it is called through this, e.g. to time it */
export async function trainedStep(
  curriculum: Curriculum,
  step: number,
  graded = false,
  around = async <Value>(work: () => Value | Promise<Value>): Promise<Value> => work(),
): Promise<void> {
  const drawn = await around(() => curriculum.draw(prompts, randomStream("scale", step), at(step)));
  assert.equal(new Set(drawn.map(({ arm }) => arm)).size, prompts);
  const groups = drawn.map(({ arm, task }) => outcome(arm, task, step, graded));
  await around(() => curriculum.observe(groups, [], at(step)));
}

setFlagsFromString("--expose_gc");
const collect: unknown = runInNewContext("gc");

/** Bytes in use, garbage not. */
export function held(): number {
  if (typeof collect === "function") collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
