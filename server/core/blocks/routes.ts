/** The keys of a `route` entry, and what they ask of a rollout. */
import { z } from "zod";
import { param } from "../declaration.ts";
import { refers } from "../references.ts";
import { textField } from "../templates.ts";
import type { Batch } from "../rollouts.ts";
import { entry, list, made, value } from "./kinds.ts";

/** A rollout among the others of its update. */
export interface Routed {
  readonly batch: Batch;
  readonly row: number;
  /** Of its group's rows: 1 succeeded, 0 failed, 2 unknown; this row's own first. */
  readonly own: number;
  readonly others: readonly number[];
  /** Mean over its tokens that train; NaN where it has none. */
  readonly advantage: number;
}

const [wrong, right] = [0, 1];
const every = ({ own, others }: Routed, wanted: number): boolean =>
  own === wanted && others.every((one) => one === wanted);
/** Replayed alone, a rollout may be without the sibling whose success its teacher read. */
const hadSibling = ({ batch, row }: Routed): boolean =>
  Object.keys(batch.records[row]!.shown ?? {}).some((name) => /^sibling(-\d+)?$/.test(name));
const sourceOf = ({ batch, row }: Routed): string => batch.records[row]!.source;

/** By its word: whether it holds, and what that says. */
const conditions = {
  right: { says: "it succeeded", holds: ({ own }: Routed) => own === right },
  wrong: { says: "it failed", holds: ({ own }: Routed) => own === wrong },
  all_right: { says: "its whole group succeeded", holds: (row: Routed) => every(row, right) },
  all_wrong: { says: "its whole group failed", holds: (row: Routed) => every(row, wrong) },
  mixed: {
    says: "of its group some succeeded and some failed",
    holds: ({ own, others }: Routed) => [right, wrong].every((one) => own === one || others.includes(one)),
  },
  sibling: {
    says: "another rollout of its group succeeded",
    holds: (row: Routed) => row.others.includes(right) || hadSibling(row),
  },
  demonstration: {
    says: "its task has a written solution",
    holds: ({ batch, row }: Routed) => batch.records[row]!.task.solution !== undefined,
  },
  positive: { says: "its advantage is above 0", holds: ({ advantage }: Routed) => advantage > 0 },
  negative: { says: "its advantage is below 0", holds: ({ advantage }: Routed) => advantage < 0 },
  zero: {
    says: "its advantage is 0, or it has none",
    holds: ({ advantage }: Routed) => advantage === 0 || Number.isNaN(advantage),
  },
  overlong: {
    says: "it was cut off at the length limit",
    holds: ({ batch, row }: Routed) => batch.records[row]!.finish === "length",
  },
  helped: {
    says: "it was helped, or the policy did not write it",
    holds: (row: Routed) => ["guided", "teacher", "dataset"].includes(sourceOf(row)),
  },
  own: { says: "the policy wrote it without help", holds: (row: Routed) => sourceOf(row) === "self" },
  replayed: { says: "it is of an earlier step", holds: (row: Routed) => sourceOf(row) === "replay" },
} as const;
type ConditionWord = keyof typeof conditions;

const words = Object.keys(conditions) as [ConditionWord, ...ConditionWord[]];

const conditionSchema = z.union([
  z.enum(words),
  z.strictObject({ not: param(z.enum(words), "The condition that must not hold.") }),
  z.strictObject({ field: param(refers({ to: "field" }), "A field that the task's data must have.") }),
]);
type RouteCondition = z.output<typeof conditionSchema>;

const routeWhen = z.union([conditionSchema, z.array(conditionSchema).min(1)]);
export const routePlaces = z.enum(["policy", "distil", "pair", "mask", "drop"]);
export type RoutePlace = z.output<typeof routePlaces>;

export const holds = (condition: RouteCondition, routed: Routed): boolean => {
  if (typeof condition === "string") return conditions[condition].holds(routed);
  if ("not" in condition) return !conditions[condition.not].holds(routed);
  return textField(routed.batch.records[routed.row]!.task, condition.field) !== undefined;
};

const item = entry({
  when: made(
    value(
      routeWhen,
      "What must hold, one condition or a list: right, wrong, all_right, all_wrong, mixed, sibling (another of the group succeeded), demonstration (the task has a solution), { field }, positive, negative, zero (its advantage), overlong, helped, own, replayed. { not } negates one.",
      { required: true },
    ),
    (when) => [when].flat(),
  ),
  to: value(
    routePlaces,
    "Where the rollout goes. policy: the objective; distil: KL entries with `mask: distilled`; pair: losses of `objective.also` with `of: pair`; mask: no loss, though it stays a row of the update; drop: no loss, as if it had not been drawn.",
    { required: true },
  ),
});

export const route = list(
  "route",
  item,
  "Which losses each rollout goes to. The first rule whose conditions hold decides. Rollouts that fit no rule go to the objective.",
);
