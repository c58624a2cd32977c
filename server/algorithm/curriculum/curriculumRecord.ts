/**
 * What a curriculum learned apart from its steps' groups, in order: new arms, groups of pilot rollouts, predictions of prompts by
 * a model, and draws. A run records it, so that a replay learns the same.
 */
import { z } from "zod";
import type { Json } from "../../../shared/lib/json.ts";
import { fromWire, toWire } from "../../../shared/rollouts/rollouts.ts";
import { taskSchema } from "../../core/savedTask.ts";
import type { Group } from "../../core/rollouts.ts";

/** Any parsed value is JSON. */
const isJson = (value: unknown): boolean => value !== undefined;

const wire = z.union([z.number(), z.enum(["NaN", "Infinity", "-Infinity"])]);
const numbers = z.array(wire);

/** A group of pilot rollouts. */
const pilotSchema = z.object({
  task: z.string(),
  arm: z.string(),
  rewards: numbers,
  successes: z.number(),
  lengths: numbers,
});

const happeningSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("appeared"), tasks: z.array(taskSchema) }),
  z.object({ kind: z.literal("tried"), groups: z.array(pilotSchema) }),
  z.object({
    kind: z.literal("looked"),
    arms: z.array(z.string()),
    values: z.array(wire),
    /** Predicted with this step's weights, for this step alone. */
    now: z.boolean(),
  }),
  z.object({
    kind: z.literal("drawn"),
    arms: z.array(z.string()),
    notes: z.array(z.custom<Json>(isJson)).optional(),
  }),
]);
/** One entry, as in a run's log and in a history. */
export type Happening = z.output<typeof happeningSchema>;

/** What has happened since it was last taken, once it is recorded. */
export class Happenings {
  private list: Happening[] | undefined;

  record(): void {
    this.list ??= [];
  }
  /** @param happening is asked for where it is recorded */
  add(happening: () => Happening): void {
    this.list?.push(happening());
  }
  take(): Happening[] {
    return this.list?.splice(0) ?? [];
  }
}

/** The curriculum record of a step, with the step's first rollout in a log and its first line in a history. */
export const recordSchema = z.object({
  stage: z.string(),
  /** Steps of `rl` stages before this one, and steps of the stage. */
  clock: z.object({ step: z.number().int(), stage_step: z.number().int() }),
  /** The run's seed: it draws start points and the pools of endless environments. */
  seed: z.number().int(),
  told: z.array(happeningSchema),
  /** By the group's name, the number of successes. A history has it with the group. */
  successes: z.record(z.string(), z.number()).optional(),
});
export type CurriculumRecord = z.output<typeof recordSchema>;

export const recordOf = (group: Group): z.output<typeof pilotSchema> => ({
  task: group.task.id,
  arm: group.arm,
  rewards: Array.from(group.rewards, toWire),
  successes: group.successes,
  lengths: Array.from(group.lengths, toWire),
});

export const groupOfRecord = ({ task, arm, ...pilots }: z.output<typeof pilotSchema>): Group => ({
  task: { id: task, source: arm, env: "", prompt: "", data: {} },
  arm,
  rewards: Float64Array.from(pilots.rewards, fromWire),
  advantages: new Float64Array(),
  successes: pilots.successes,
  lengths: Float64Array.from(pilots.lengths, fromWire),
});
