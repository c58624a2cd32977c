import type { ConfigModel, Rule } from "./rule.ts";

export const rules: readonly Rule[] = [];

export function checkRules(model: ConfigModel): void {
  for (const rule of rules) rule.check(model);
}
