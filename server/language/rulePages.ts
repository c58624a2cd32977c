/** The title and the reasons of any finding's rule: of a config's own, and of the other frameworks'. */
import { rules } from "../config/rules/index.ts";
import type { RulePage } from "../config/rules/rule.ts";
import { structural } from "../config/rules/structural.ts";
import { keyRules } from "../foreign/check/finding.ts";
import { foreignRules } from "../foreign/index.ts";

let pages: ReadonlyMap<string, RulePage> | undefined;

/** undefined for a finding that has no page: a file that cannot be read, a wrong `--set`. */
export function pageOfRule(id: string): RulePage | undefined {
  pages ??= new Map([...structural, ...rules, ...keyRules, ...foreignRules].map((rule) => [rule.id, rule]));
  return pages.get(id);
}
