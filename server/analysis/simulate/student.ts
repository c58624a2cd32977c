/** A learner as who answers a simulated run. */
import type { DrawnTask } from "../../algorithm/curriculum/draws.ts";
import type { Group } from "../../core/rollouts.ts";
import type { Task } from "../../core/task.ts";
import type { Random } from "../../lib/random.ts";
import { gainOf } from "./groups.ts";
import type { Learner } from "./learner.ts";
import { simulatedOf } from "./source.ts";

export class Student {
  /** Of a task, as the learner was when it answered it last. */
  private readonly chances = new WeakMap<Task, number>();

  constructor(readonly learner: Learner) {}

  attempt({ task }: DrawnTask, count: number, random: Random): number[] {
    const { level, extra } = simulatedOf(task);
    this.chances.set(task, this.learner.success(level, extra));
    return this.learner.attempt(level, extra, count, random);
  }

  train(groups: readonly Group[]): void {
    this.learner.update(
      groups.map((group) => ({ level: simulatedOf(group.task).level, gain: gainOf(group) })),
    );
  }

  /** Chance with which it answered a task right. */
  chanceOf(task: Task): number {
    return this.chances.get(task) ?? Number.NaN;
  }
}
