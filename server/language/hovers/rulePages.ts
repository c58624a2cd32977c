/** The title and the reasons of any finding's rule: of a config's own, and of the other frameworks'. */
import { rules } from "../../rules/index.ts";
import type { RulePage } from "../../rules/rule.ts";
import { structural } from "../../rules/structural.ts";
import { keyRules } from "../../frameworks/check/keyRules.ts";
import { frameworkRules } from "../../frameworks/index.ts";

let pages: ReadonlyMap<string, RulePage> | undefined;

/** undefined for a finding that has no page: a file that cannot be read, a wrong `--set`. */
export function pageOfRule(id: string): RulePage | undefined {
  pages ??= new Map([...structural, ...rules, ...keyRules, ...frameworkRules].map((rule) => [rule.id, rule]));
  return pages.get(id);
}
