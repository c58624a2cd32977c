/** Numbers in the data of tasks. */
import { isObject, type Json } from "../../../shared/lib/json.ts";
import type { Task } from "../../core/task.ts";

/** The value at `field` or `field.inner` of the task's data. */
export const fieldOf = ({ data }: Task, field: string): Json | undefined =>
  field.split(".").reduce<Json | undefined>((at, key) => (isObject(at) ? at[key] : undefined), data);

/** A finite number, also as text; undefined: there is none. */
export function numberIn(task: Task, field: string): number | undefined {
  const value = fieldOf(task, field);
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}
