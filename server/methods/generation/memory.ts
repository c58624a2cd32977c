/** What is remembered of the tasks that may become parents: their last groups. Bounded; the oldest are forgotten. */
import { z } from "zod";
import type { Random } from "../../lib/random.ts";
import type { Task } from "../../core/task.ts";
import type { Saved, Stateful } from "../../core/basics.ts";
import type { Answered, Group } from "../../core/rollouts.ts";
import { taskSchema } from "../../core/savedTask.ts";
import { proportional, softmax } from "./drawing.ts";
import type { RememberedTask, Selector, Skill } from "../../core/slots/generation.ts";

/** Groups of a task whose rates are kept. */
const history = 16;
const schema = z.array(
  z.object({
    task: taskSchema,
    rates: z.array(z.number()),
    least: z.number(),
    most: z.number(),
    mean: z.number(),
    answers: z.array(z.object({ response: z.string(), right: z.boolean() })).default([]),
  }),
);

/** How parents of one child are found. */
export interface Family {
  readonly parents: number;
  /** How near a further parent is to the first; those that are nearer are drawn more often, the more so the lower the temperature. */
  readonly near?: { cosine(first: Task, other: Task): number; readonly temperature: number } | undefined;
}

/** A task that may be a parent, with its kind and weight. */
export interface Weighed {
  readonly seen: RememberedTask;
  readonly skill: string;
  readonly weight: number;
}

/** The first right and the first wrong ones. */
const someOf = (answers: readonly Answered[], each: number): Answered[] =>
  [true, false].flatMap((kind) => answers.filter(({ right }) => right === kind).slice(0, each));

/** Draws one in proportion to its weight, and to how near it is to the first, and takes it out. */
function take(open: Weighed[], random: Random, near?: Family["near"], first?: Task): RememberedTask {
  const nearness =
    near === undefined || first === undefined
      ? undefined
      : softmax(
          open.map(({ seen }) => near.cosine(first, seen.task)),
          near.temperature,
        );
  const weights = open.map(({ weight }, i) => weight * (nearness?.[i] ?? 1));
  const at = proportional(weights, random);
  const [one] = open.splice(at, 1);
  return one!.seen;
}

export class Memory implements Stateful {
  private readonly tasks = new Map<string, RememberedTask>();

  /**
   * @param skillOf the skill that a task belongs to
   * @param answers how many right and how many wrong responses to keep of each task
   */
  constructor(
    private readonly capacity: number,
    private readonly skillOf: (task: Task) => string,
    private readonly answers = 0,
  ) {}

  observe(group: Group): void {
    const { task, rewards, successes } = group;
    if (rewards.length === 0) return;
    const before = this.tasks.get(task.id);
    // The latest come last: what was not seen for longest is dropped first.
    this.tasks.delete(task.id);
    this.tasks.set(task.id, {
      task,
      rates: [...(before?.rates ?? []), successes / rewards.length].slice(-history),
      least: Math.min(...rewards),
      most: Math.max(...rewards),
      mean: rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length,
      answers: someOf(group.answers ?? [], this.answers),
    });
    for (const [oldest] of this.tasks) {
      if (this.tasks.size <= this.capacity) break;
      this.tasks.delete(oldest);
    }
  }

  get(id: string): RememberedTask | undefined {
    return this.tasks.get(id);
  }

  /**
   * Up to `n` families of parents, all different: the first of each drawn in proportion to what it is worth, the others
   * also to how near they are to the first.
   */
  choose(
    selector: Selector,
    n: number,
    random: Random,
    { parents, near }: Family = { parents: 1 },
  ): RememberedTask[][] {
    const open = this.weighed(selector);
    const families: RememberedTask[][] = [];
    while (families.length < n && open.length >= parents) {
      const first = take(open, random);
      const others = Array.from({ length: parents - 1 }, () => take(open, random, near, first.task));
      families.push([first, ...others]);
    }
    return families;
  }

  /** Tasks that may be parents, with what each is worth. */
  weighed(selector: Selector): Weighed[] {
    const open = [...this.tasks.values()]
      .map((seen) => ({ seen, skill: this.skillOf(seen.task), weight: selector.weigh(seen) }))
      .filter(({ weight }) => weight > 0);
    if (selector.share === undefined) return open;
    const sums = new Map<string, number>();
    for (const { skill, weight } of open) sums.set(skill, (sums.get(skill) ?? 0) + weight);
    const wanted = new Map(open.map(({ seen }) => [seen.task.id, seen]));
    const shares = new Map(
      this.skills((seen) => wanted.has(seen.task.id)).map((skill) => [skill.name, selector.share!(skill)]),
    );
    return open
      .map(({ seen, skill, weight }) => ({
        seen,
        skill,
        weight: ((shares.get(skill) ?? 0) * weight) / sums.get(skill)!,
      }))
      .filter(({ weight }) => weight > 0);
  }

  /** In the order in which they were first seen. */
  skills(chosen: (seen: RememberedTask) => boolean = () => false): Skill[] {
    const found = new Map<string, { tasks: number; chosen: number; sum: number }>();
    for (const seen of this.tasks.values()) {
      const name = this.skillOf(seen.task);
      const own = found.get(name) ?? { tasks: 0, chosen: 0, sum: 0 };
      own.tasks += 1;
      own.chosen += Number(chosen(seen));
      own.sum += seen.rates.at(-1)!;
      found.set(name, own);
    }
    return [...found].map(([name, { sum, ...counts }]) => ({ name, ...counts, rate: sum / counts.tasks }));
  }

  save(): Saved {
    return {
      json: [...this.tasks.values()].map((seen) => ({
        ...seen,
        rates: [...seen.rates],
        answers: seen.answers.map((one) => ({ ...one })),
        task: { ...seen.task },
      })),
    };
  }
  load({ json }: Saved): void {
    this.tasks.clear();
    for (const seen of schema.safeParse(json).data ?? []) this.tasks.set(seen.task.id, seen);
  }
}
