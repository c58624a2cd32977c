/** A file of tasks that has changed since a curriculum was saved: what is known by number must not pass to other tasks. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Curriculum } from "../../../../server/algorithm/curriculum/curriculum.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { temporary } from "../../support.ts";
import { clock, curriculumOf, group } from "./support.ts";

const folder = temporary();
const file = join(folder, "sums.jsonl");
const write = (from: number, to: number, levels = 2): void =>
  writeFileSync(
    file,
    Array.from({ length: to - from }, (_, i) => {
      const line = { question: `${from + i}+1=`, answer: String(from + i + 1), level: (from + i) % levels };
      return `${JSON.stringify(line)}\n`;
    }).join(""),
  );
const over = (arms: string): Curriculum =>
  curriculumOf(
    `{ arms: ${arms}, signal: success_rate, estimator: last, sampler: uniform }`,
    `[{ name: sums, dataset: ${JSON.stringify(file)}, prompt: "{question}", answer: "{answer}", difficulty: level }]`,
  );

/** A curriculum that has seen a success of every arm. */
async function taught(arms: string): Promise<Curriculum> {
  write(0, 40);
  const curriculum = over(arms);
  const drawn = await curriculum.draw(curriculum.arms.size, randomStream(1), clock);
  const groups = drawn.map(({ arm, task }) => group([1, 1], { arm, task }));
  curriculum.observe(groups, [], clock);
  return curriculum;
}
const estimatesOf = (curriculum: Curriculum): number[] =>
  Array.from({ length: curriculum.arms.size }, (_, arm) => curriculum.estimate(arm));
const told = (curriculum: Curriculum): string =>
  curriculum
    .faults()
    .map(({ code, message }) => `${code}: ${message}`)
    .join();

test("arms that are single tasks are forgotten with the file that they were of, and that is reported once", async () => {
  const saved = (await taught("prompt")).save();
  const same = over("prompt");
  same.load(saved);
  assert.equal(told(same), "");
  assert.ok(estimatesOf(same).every((one) => one === 1));
  write(5, 45);
  const changed = over("prompt");
  changed.load(saved);
  assert.ok(estimatesOf(changed).every(Number.isNaN));
  assert.match(
    told(changed),
    /^tasks-changed: the tasks of sums have changed .*, so the curriculum starts without its estimates$/,
  );
  assert.equal(told(changed), "");
});

test("arms that are levels stay while they are the same, and are forgotten where their numbers are of others", async () => {
  const saved = (await taught("difficulty")).save();
  write(2, 50);
  const longer = over("difficulty");
  longer.load(saved);
  assert.deepEqual(estimatesOf(longer), [1, 1]);
  assert.match(told(longer), /^tasks-changed: the tasks of sums have changed since the run started$/);
  // The first line is of level 1 now: the levels have changed places.
  write(1, 50);
  const turned = over("difficulty");
  turned.load(saved);
  assert.deepEqual(estimatesOf(turned), [Number.NaN, Number.NaN]);
  assert.match(told(turned), /without its estimates$/);
});
