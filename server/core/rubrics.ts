/** Rubrics of tasks: criteria with points. */
import { fieldOf, isObject } from "./templates.ts";
import type { Criterion } from "../../shared/rollouts/criteria.ts";
import type { Json } from "../../shared/lib/json.ts";
import type { Task } from "./task.ts";

export interface RubricCriterion extends Criterion {
  /** A response meets it where this is found in it: no judge is asked. */
  readonly regex?: string;
}

const firstOf = <Value extends Json>(
  value: { readonly [key: string]: Json },
  keys: readonly string[],
  is: (one: Json | undefined) => one is Value,
): Value | undefined => keys.map((key) => value[key]).find(is);
const isText = (one: Json | undefined): one is string => typeof one === "string";
const isNumber = (one: Json | undefined): one is number => typeof one === "number";

/** A criterion: a text that counts 1, or an object with a text and its points; undefined: neither. */
function criterionOf(value: Json): RubricCriterion | undefined {
  if (typeof value === "string") return { text: value, points: 1 };
  if (!isObject(value)) return undefined;
  const regex = firstOf(value, ["regex"], isText);
  const text = firstOf(value, ["criterion", "text", "description"], isText) ?? regex;
  if (text === undefined) return undefined;
  const points = firstOf(value, ["points", "weight"], isNumber) ?? 1;
  const name = firstOf(value, ["name"], isText);
  return {
    ...(name !== undefined && { name }),
    text,
    points,
    ...(value["veto"] === true && { veto: true }),
    ...(regex !== undefined && { regex }),
  };
}

/** Those of a field of the task's data, a list; what is none is left out. Empty: it has no rubric. */
export function rubricOf(task: Task, field: string): RubricCriterion[] {
  const value = fieldOf(task, field);
  return Array.isArray(value) ? value.flatMap((one: Json) => criterionOf(one) ?? []) : [];
}
