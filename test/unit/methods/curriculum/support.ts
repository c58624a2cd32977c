/** What tests of the curriculum share: arms with values, groups with rewards, draws against probabilities. */
import { contextOf } from "../../../../server/algorithm/algorithm.ts";
import { Curriculum } from "../../../../server/algorithm/curriculum/curriculum.ts";
import { openSources } from "../../../../server/algorithm/curriculum/openSources.ts";
import { NamedArms } from "../../../../server/methods/curriculum/armSet.ts";
import { lifted } from "../../../../server/methods/curriculum/fast/lifted.ts";
import type { z } from "zod";
import type { Declaration } from "../../../../server/core/declaration.ts";
import type { Posterior } from "../../../../server/core/slots/arms.ts";
import type { Observation, Outcome } from "../../../../server/core/slots/curriculum.ts";
import type { ArmPool, FastSampler } from "../../../../server/core/slots/fastArms.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { Task } from "../../../../server/core/task.ts";
import type { Clock } from "../../../../server/core/basics.ts";
import type { Group } from "../../../../server/core/rollouts.ts";
import { configOf, made } from "../../support.ts";

export const clock: Clock = { step: 0, stageStep: 0 };
export const at = (step: number): Clock => ({ step, stageStep: step });

export const task: Task = { id: "t", source: "s", env: "e", prompt: "", data: {} };

/** A group of so many rewards; those of at least 1 are successes. */
export const group = (rewards: readonly number[], more: Partial<Group> = {}): Group => ({
  task,
  arm: "a",
  rewards: Float64Array.from(rewards),
  advantages: new Float64Array(),
  successes: rewards.filter((reward) => reward >= 1).length,
  lengths: new Float64Array(rewards.length),
  ...more,
});

/** A sampler of these parameters, as the curriculum draws with it. */
export const sampling = <Params extends z.ZodObject>(
  declaration: Declaration<"sampler", Params>,
  params: z.input<Params>,
): FastSampler => lifted(made(declaration, params));

type Columns = "estimates" | "rollouts" | "groups" | "arms" | "size" | "once";
interface Given
  extends
    Partial<Pick<ArmPool, Columns | "totals" | "closed" | "changed" | "classes" | "prior" | "isOpen">>,
    Partial<Posterior> {}

function posteriorOf(estimates: Float64Array, { spread, draw, shapes }: Given): Posterior | undefined {
  if (spread === undefined && draw === undefined) return undefined;
  return {
    spread: spread ?? (() => Number.NaN),
    draw: draw ?? ((arm) => estimates[arm]!),
    ...(shapes === undefined ? {} : { shapes }),
  };
}

const total = (column: Float64Array): number => column.reduce((sum, n) => sum + n, 0);

/** Arms with these estimates (undefined: unknown), all open and never drawn where nothing else is given. */
export function poolOf(values: readonly (number | undefined)[], given: Given = {}): ArmPool {
  const { size = values.length, isOpen = () => true, prior = () => 1 } = given;
  const {
    estimates = Float64Array.from(values, (value) => value ?? Number.NaN),
    rollouts = new Float64Array(size),
    groups = new Float64Array(size),
  } = given;
  const column = (of: (arm: number) => number): Float64Array =>
    Float64Array.from({ length: size }, (_, arm) => of(arm));
  return {
    arms: given.arms ?? new NamedArms(values.map((_, arm) => String.fromCharCode(97 + arm))),
    size,
    ...{ estimates, rollouts, groups, isOpen, prior },
    priors: column(prior),
    open: Uint8Array.from(column((arm) => Number(isOpen(arm)))),
    once: given.once ?? false,
    estimate: (arm) => estimates[arm]!,
    totals: given.totals ?? { rollouts: total(rollouts), groups: total(groups) },
    posterior: posteriorOf(estimates, given),
    ...(given.closed && { closed: given.closed }),
    ...(given.changed && { changed: given.changed }),
    ...(given.classes && { classes: given.classes }),
  };
}

/** What a sampler learns from after a step. */
export const outcomesOf = (groups: readonly Group[], arms: readonly number[], pool: ArmPool): Outcome[] =>
  groups.map((one, i) => ({ group: one, arm: arms[i]!, estimate: pool.estimate(arms[i]!) }));

/** A step's observation of one arm, by its rollouts. */
export const observed = (arm: number, ...values: readonly number[]): Observation => ({
  arm,
  mean: values.reduce((sum, value) => sum + value, 0) / values.length,
  values,
  rollouts: values.length,
});

/** Pearson's χ² of drawn arms against their probabilities; arms of probability 0 must not be drawn. */
export function chiSquare(drawn: readonly number[], probabilities: ArrayLike<number>): number {
  const counts = new Float64Array(probabilities.length);
  for (const arm of drawn) counts[arm]! += 1;
  return counts.reduce((sum, count, arm) => {
    const expected = drawn.length * probabilities[arm]!;
    if (expected === 0) return count === 0 ? sum : Number.POSITIVE_INFINITY;
    return sum + (count - expected) ** 2 / expected;
  }, 0);
}

/** Makes curricula as the config's text has it, each from the start. */
export function curriculaOf(
  curriculum: string,
  tasks = "[{ env: countdown, numbers: [3, 4] }, { env: arithmetic, digits: [2], weight: 3 }]",
): () => Curriculum {
  const { top } = configOf(
    `tasks: ${tasks}\nreward: { terms: { right: { use: format, tags: [a] } } }\ncurriculum: ${curriculum}\n`,
  );
  const context = contextOf(top, { random: randomStream(1, "curriculum") });
  return () => new Curriculum(top.curriculum, openSources(top.tasks, context), context);
}
export const curriculumOf = (...text: Parameters<typeof curriculaOf>): Curriculum => curriculaOf(...text)();

/** By name, the numbers of a column. */
export const byName = (curriculum: Curriculum, column: ArrayLike<number>): Record<string, number> =>
  Object.fromEntries(
    Array.from({ length: curriculum.arms.size }, (_, arm) => [curriculum.arms.name(arm), column[arm]!]),
  );
