/** The exam of runs that began before `evaluation.seed` was a key: its tasks and answers were drawn by the run's own seed. */
import { existsSync, readFileSync } from "node:fs";
import { isObject, type JsonObject } from "../../../shared/lib/json.ts";

/** The resolved config of a run as one of today reads: with the seed of its exam. */
export function withExam(resolved: JsonObject): JsonObject {
  const { evaluation, seed } = resolved;
  if (!isObject(evaluation) || evaluation["seed"] !== undefined || typeof seed !== "number") return resolved;
  return { ...resolved, evaluation: { ...evaluation, seed } };
}

/** What sets the exam of a run that goes on; nothing where its config has a seed of its own. */
export function keptExam(resolved: JsonObject): readonly string[] {
  const kept = withExam(resolved);
  return kept === resolved ? [] : [`evaluation.seed=${String(resolved["seed"])}`];
}

/** @returns undefined where no config has been resolved there yet */
export const resolvedIn = (path: string): JsonObject | undefined =>
  existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as JsonObject) : undefined;
