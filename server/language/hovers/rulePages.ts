/** The title and the reasons of any diagnostic's rule: those of configs, and those of the other frameworks. */
import { rules } from "../../rules/index.ts";
import type { RulePage } from "../../rules/rule.ts";
import { structural } from "../../rules/structural.ts";
import { keyRules } from "../../frameworks/check/keyRules.ts";
import { frameworkRules } from "../../frameworks/check/index.ts";

let pages: ReadonlyMap<string, RulePage> | undefined;

/** undefined for a diagnostic without a page: a file that cannot be read, a wrong `--set`. */
export function pageOfRule(id: string): RulePage | undefined {
  pages ??= new Map([...structural, ...rules, ...keyRules, ...frameworkRules].map((rule) => [rule.id, rule]));
  return pages.get(id);
}
