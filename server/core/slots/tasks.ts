/** What can be asked. */
import type { Task } from "../task.ts";
import type { Random } from "../../lib/random.ts";
import type { Clock, Stateful } from "../basics.ts";
import type { Group } from "../rollouts.ts";
import type { Environments } from "./environment.ts";

/** A task that a file holds. */
export interface ListedTask {
  readonly task: Task;
  readonly file: string;
  /** Its place among the file's rows, from 1. */
  readonly row: number;
  /** From 0, where the file has lines. */
  readonly line?: number;
}

/** A place tasks come from. `split` is decided by a hash of the canonical task, so no task is in both. */
export interface TaskSource extends Stateful {
  readonly name: string;
  /** The values of the arm key this source can produce, e.g. `["3", "4"]`; empty: one arm of the source's name. */
  readonly values: readonly string[];
  /** Draws one task of an arm value (undefined: any); null when the source has none such left. */
  draw(split: "train" | "evaluate", value: string | undefined, random: Random): Task | null;
  /** The arm value of one of this source's tasks. */
  valueOf(task: Task): string | undefined;
  /**
   * Its train tasks by number, where each is to be an arm of its own; absent: they cannot be counted.
   * @param size how many an endless source is to make
   */
  pool?(size: number, random: Random): TaskPool;
  /** A train task as this one but so many difficulties harder (easier: below 0); null: there is none. */
  vary?(task: Task, by: number, random: Random): Task | null;
  /** The task that a prompt of this source asks; null: it asks none that can be solved. */
  read?(prompt: string): Task | null;
  /** Whether this source asks a recorded task only to measure the policy; absent: it cannot tell. */
  holdsOut?(asked: RecordedTask): boolean;
  /** All tasks of its file, of either split, in the file's order; absent: no file lists them. */
  listed?(): readonly ListedTask[];
  /** Lines of its file that it never asks, in words. */
  readonly omitted?: string | undefined;
  /** Of the tasks that a file gave: a resumed run compares, for the file may have changed. Absent: they are always the same. */
  readonly stamp?: string;
  /** More tasks appear in its pool while the run goes on. */
  readonly grows?: true;
  /** Several stages draw from it, whose curricula differ: it is saved once, next to them. */
  readonly shared?: true;
  /** What a step has shown of all sources' tasks. */
  observe?(groups: readonly Group[], clock: Clock): void;
  /** Numbers that its tasks are made from and that may vary, the difficulty first; absent: none. */
  readonly box?: readonly Knob[];
  /** What answers the policy's turns at its tasks, where `rollout.shape` asks for it. */
  readonly play?: Environments;
  /** Draws one task made from these numbers, by name; null when it finds none of that split. */
  drawAt?(at: Readonly<Record<string, number>>, split: "train" | "evaluate", random: Random): Task | null;
}

/** What a log knows of a task. */
export interface RecordedTask {
  /** Canonical, where the log has it. */
  readonly id?: string;
  readonly prompt?: string;
}

/** A number that tasks are made from. */
export interface Knob {
  readonly name: string;
  readonly low: number;
  readonly high: number;
  /** Whole numbers only: a point between them is rounded. */
  readonly whole: boolean;
}

/** Tasks by number, all different. */
export interface TaskPool {
  readonly size: number;
  task(number: number): Task;
}
