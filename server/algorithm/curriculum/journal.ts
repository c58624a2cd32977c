/**
 * What a curriculum learned otherwise than from its steps' groups, in the order in which it did: arms that appeared, groups
 * that tried arms, what a model showed of prompts, what was drawn. A run records it, so that a replay is told the same.
 */
import { z } from "zod";
import type { Json } from "../../../shared/json.ts";
import { fromWire, toWire } from "../../../shared/rollouts.ts";
import { taskSchema } from "../../core/savedTask.ts";
import type { Group } from "../../core/rollouts.ts";

/** Whatever was parsed of a text is JSON. */
const isJson = (value: unknown): boolean => value !== undefined;

const wire = z.union([z.number(), z.enum(["NaN", "Infinity", "-Infinity"])]);
const numbers = z.array(wire);

/** A group of rollouts that tried an arm, and trained nothing. */
const triedSchema = z.object({
  task: z.string(),
  arm: z.string(),
  rewards: numbers,
  successes: z.number(),
  lengths: numbers,
});

export const happeningSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("appeared"), tasks: z.array(taskSchema) }),
  z.object({ kind: z.literal("tried"), groups: z.array(triedSchema) }),
  z.object({
    kind: z.literal("looked"),
    arms: z.array(z.string()),
    values: z.array(wire),
    /** As the model stood in this step, beside a belief of an earlier time. */
    now: z.boolean(),
  }),
  z.object({
    kind: z.literal("drawn"),
    arms: z.array(z.string()),
    notes: z.array(z.custom<Json>(isJson)).optional(),
  }),
]);
/** One thing that happened, as it stands in a run's log and in a history. */
export type Happening = z.output<typeof happeningSchema>;

/** What a step's first rollout has of the curriculum, and a history's first line of the step. */
export const recordSchema = z.object({
  stage: z.string(),
  /** Steps of `rl` stages before this one, and steps of the stage. */
  clock: z.object({ step: z.number().int(), stage_step: z.number().int() }),
  /** Of the run: start points and pools of endless environments are drawn by it. */
  seed: z.number().int(),
  told: z.array(happeningSchema),
  /** By the group's name, how many of its rollouts count as a success. In a history it stands with the group. */
  successes: z.record(z.string(), z.number()).optional(),
});
export type CurriculumRecord = z.output<typeof recordSchema>;

export const triedOf = ({ task, arm, rewards, successes, lengths }: Group): z.output<typeof triedSchema> => ({
  task: task.id,
  arm,
  rewards: Array.from(rewards, toWire),
  successes,
  lengths: Array.from(lengths, toWire),
});

export const groupOfTried = ({
  task,
  arm,
  rewards,
  successes,
  lengths,
}: z.output<typeof triedSchema>): Group => ({
  task: { id: task, source: arm, env: "", prompt: "", data: {} },
  arm,
  rewards: Float64Array.from(rewards, fromWire),
  advantages: new Float64Array(),
  successes,
  lengths: Float64Array.from(lengths, fromWire),
});
