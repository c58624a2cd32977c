/** Which of several settings a file has: the place of a diagnostic about all of them. */
import type { Setting } from "../text/document.ts";
import type { RuleDiagnostic, RuleModel } from "./rule.ts";

export const allWritten = (model: RuleModel, ...keys: readonly string[]): Setting[] =>
  keys.flatMap((key) => model.written(key) ?? []);

/** The first that the file has, and the others as related places. */
export function placed(
  model: RuleModel,
  ...keys: readonly string[]
): { at: Setting | undefined; related: readonly Setting[] } {
  const [at, ...related] = allWritten(model, ...keys);
  return { at, related };
}

/** A diagnostic at the first of these keys that the file has, else at the file's head. */
export const diagnosticAt = (
  model: RuleModel,
  keys: readonly string[],
  message: string,
  extras: Omit<RuleDiagnostic, "message" | "at"> = {},
): RuleDiagnostic[] => [{ message, ...placed(model, ...keys), ...extras }];
