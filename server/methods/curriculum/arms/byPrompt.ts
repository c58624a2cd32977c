import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import { valueAt } from "../../../core/schedule.ts";
import { arms, param } from "../../../core/declaration.ts";
import { taskSchema } from "../../../core/savedTask.ts";
import type { Random } from "../../../lib/random.ts";
import type { Task } from "../../../core/task.ts";
import type { TaskPool } from "../../../core/slots/tasks.ts";
import type { Arm, Clock, Saved } from "../../../core/basics.ts";
import type { ArmSet } from "../../../core/slots/arms.ts";
import type { Division, SourceOf } from "../../../core/slots/curriculum.ts";
import { valueName } from "./byDifficulty.ts";

interface Part extends SourceOf {
  readonly pool: TaskPool;
  /** Number of its first arm. */
  readonly from: number;
}

/** An arm for each task of the sources' pools. Names are made on demand. */
class PromptArms implements ArmSet {
  /** Tasks added since, after those of the pools. */
  private readonly later: { readonly part: Part; readonly task: Task }[] = [];
  private readonly first: number;
  /** Numbers of the names made so far; all of them, once an unknown name is looked up. */
  private readonly numbers = new Map<Arm, number>();
  private complete = false;

  constructor(readonly parts: readonly Part[]) {
    this.first = parts.reduce((sum, { pool }) => sum + pool.size, 0);
  }

  get size(): number {
    return this.first + this.later.length;
  }
  get added(): readonly Task[] {
    return this.later.map(({ task }) => task);
  }
  /** Removes all added tasks. */
  reset(): void {
    for (const { task } of this.later.splice(0)) this.numbers.delete(promptName(task));
  }
  /** Adds an arm for each task that has none, after all others. */
  append(part: Part, tasks: readonly Task[]): void {
    for (const task of tasks) {
      const name = promptName(task);
      if (this.find(name) >= 0) continue;
      this.numbers.set(name, this.size);
      this.later.push({ part, task });
    }
  }

  part(arm: number): Part {
    // A negative index of an array is looked up as a property name, which is slow for a million arms.
    if (arm >= this.first) return this.later[arm - this.first]!.part;
    return this.parts.findLast(({ from }) => from <= arm)!;
  }
  task(arm: number): Task {
    if (arm >= this.first) return this.later[arm - this.first]!.task;
    const { pool, from } = this.part(arm);
    return pool.task(arm - from);
  }
  name(arm: number): Arm {
    const name = promptName(this.task(arm));
    this.numbers.set(name, arm);
    return name;
  }
  find(name: Arm): number {
    if (!this.numbers.has(name) && !this.complete) {
      for (let arm = 0; arm < this.size; arm++) this.name(arm);
      this.complete = true;
    }
    return this.numbers.get(name) ?? -1;
  }
  numbersOf(names: ReadonlySet<Arm>, from: number): ReadonlyMap<Arm, number> {
    const found = new Map<Arm, number>();
    for (let arm = from; arm < this.size; arm++) {
      const name = promptName(this.task(arm));
      if (names.has(name)) found.set(name, arm);
    }
    return found;
  }
}

const promptName = (task: Task): Arm => `${task.source}/${task.id}`;

class PromptDivision implements Division {
  readonly once = true;
  readonly arms: PromptArms;
  readonly families: readonly Arm[];

  constructor(private readonly parts: readonly Part[]) {
    this.arms = new PromptArms(parts);
    this.families = parts.flatMap(({ source }) =>
      source.values.length === 0
        ? [valueName(source, undefined)]
        : source.values.map((value) => valueName(source, value)),
    );
  }

  draw(arm: number): Task {
    const task = this.arms.task(arm);
    this.arms.name(arm);
    return task;
  }
  armOf(task: Task): number {
    return this.arms.find(promptName(task));
  }
  prior(arm: number, clock: Clock): number {
    return valueAt(this.arms.part(arm).config.weight, clock);
  }
  kind(arm: number): number {
    return this.parts.indexOf(this.arms.part(arm));
  }
  grow(): void {
    for (const part of this.parts) {
      const pool = part.source.grows === true ? part.source.pool?.(0, noRandom) : undefined;
      if (pool !== undefined)
        this.arms.append(
          part,
          Array.from({ length: pool.size }, (_, i) => pool.task(i)),
        );
    }
  }
  save(): Saved {
    return { json: this.arms.added.map((task) => ({ ...task })) };
  }
  appear(tasks: readonly Task[]): void {
    for (const task of tasks) {
      const part = this.parts.find(({ source }) => source.name === task.source);
      if (part !== undefined) this.arms.append(part, [task]);
    }
  }
  /** Arms are numbers, so added ones must be restored in their order, even if their sources no longer have them. */
  load({ json }: Saved): void {
    this.arms.reset();
    this.appear(z.array(taskSchema).safeParse(json).data ?? []);
  }
  familyOf(task: Task): Arm {
    const part = this.parts.find(({ source }) => source.name === task.source);
    return part === undefined ? task.source : valueName(part.source, part.source.valueOf(task));
  }
}

/** A growing pool makes no tasks here, so it draws nothing at random. */
const noRandom: Random = { next: () => 0, integer: () => 0, fork: () => noRandom };

export const poolSize = param(
  z.number().int().positive().default(4096),
  "Tasks that an environment without end makes at the start; a dataset has those of its lines.",
);

export function poolOf({ config, source }: SourceOf, size: number, random: Random): TaskPool {
  const pool = source.pool?.(size, random.fork("pool", config.name));
  if (pool !== undefined && (pool.size > 0 || source.grows === true)) return pool;
  throw new UserError(
    pool === undefined
      ? `the tasks of ${config.name} cannot be counted, so they cannot be arms`
      : `${config.name} has no task to train on`,
    {
      code: "arms-prompt",
      action:
        pool === undefined
          ? "Choose `arms: difficulty` or `arms: task`, or another task source."
          : "Add tasks: about a fifth of them is held out for evaluation, and of a few that may be all.",
    },
  );
}

export const byPrompt = arms({
  name: "prompt",
  summary: "One arm per task: every line of a dataset, or so many tasks that an environment makes once.",
  sources: [
    "Can Prompt Difficulty be Online Predicted for Accelerating RL Finetuning of Reasoning Models?",
    "Prompt Curriculum Learning for Efficient LLM Post-Training",
  ],
  gives: ["tasks"],
  params: z.object({ pool: poolSize }),
  create:
    ({ pool: size }, { random }) =>
    (sources) => {
      let from = 0;
      return new PromptDivision(
        sources.map((one) => {
          const part = { ...one, pool: poolOf(one, size, random), from };
          from += part.pool.size;
          return part;
        }),
      );
    },
});
