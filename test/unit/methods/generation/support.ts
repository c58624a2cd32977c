/** What tests of rounds share: sums as parents, and what a round is given. */
import { program } from "../../../../server/methods/generation/authors/program.ts";
import {
  GeneratedTasks,
  type GeneratedOptions,
} from "../../../../server/methods/generation/generatedTasks.ts";
import type { Recipe, RoundContext } from "../../../../server/methods/generation/recipe.ts";
import { failures } from "../../../../server/methods/generation/selectors/failures.ts";
import { simplify } from "../../../../server/methods/generation/transforms/simplify.ts";
import type { Complete } from "../../../../server/core/slots/generation.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { Task } from "../../../../server/core/task.ts";
import { arithmetic } from "../../../../server/methods/tasks/arithmetic.ts";
import { clock, group } from "../curriculum/support.ts";
import { made } from "../../support.ts";

export const sums = made(arithmetic, { digits: [2] });
export const parents = Array.from({ length: 4 }, (_, i) =>
  sums.draw("train", undefined, randomStream("parent", i))!,
);

export function emptySource(more: Partial<GeneratedOptions> = {}): GeneratedTasks {
  const parts = { selector: made(failures, {}), transform: made(simplify, {}), byProgram: true };
  return new GeneratedTasks({ name: "new", from: [sums], ...parts, keep: 9, depth: 1, ...more });
}
export function sourceOf(more: Partial<GeneratedOptions> = {}): GeneratedTasks {
  const source = emptySource(more);
  source.observe(
    parents.map((task) => group([0, 0], { task })),
    clock,
  );
  return source;
}

export const recipe = (more: Partial<Recipe> = {}): Recipe => ({
  transform: made(simplify, {}),
  author: made(program, {}),
  answer: { kind: "verifier" },
  gates: [],
  parents: 4,
  children: 1,
  names: { transform: "simplify", author: "program", answer: "verifier" },
  ...more,
});
export const unasked: Complete = () => Promise.reject(new Error("nobody was to be asked"));
export const contextOf = (
  complete = unasked,
  rates: (task: Task, i: number) => number[] = () => [0, 1],
): RoundContext => ({
  random: randomStream("test"),
  step: 7,
  fits: ({ prompt }) => prompt.length < 1000,
  attempt: (tasks) => Promise.resolve(tasks.map((task, i) => group(rates(task, i), { task }))),
  grade: (tasks) =>
    Promise.resolve(tasks.map((task) => group([task.solution === undefined ? 0 : 1], { task }))),
  complete,
  policy: unasked,
  embed: () => Promise.reject(new Error("nothing was to be compared")),
});
export const saying =
  (...texts: readonly string[]): Complete =>
  (requests, { samples }) =>
    Promise.resolve(requests.map((_, i) => Array.from({ length: samples }, () => texts[i] ?? "")));
