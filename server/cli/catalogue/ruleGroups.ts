/** Everything that a message of `check`, `validate` or the editor names, by what it is about. */
import { checkPages } from "../../analysis/rewardChecks/pages.ts";
import { verdictPages } from "../../analysis/verdict/pages.ts";
import { keyRules } from "../../frameworks/check/keyRules.ts";
import type { Framework } from "../../frameworks/text/document.ts";
import { frameworkRules } from "../../frameworks/check/index.ts";
import { rules } from "../../rules/index.ts";
import type { RulePage } from "../../rules/rule.ts";
import { structural } from "../../rules/structural.ts";

export interface RuleGroup {
  readonly heading: string;
  readonly pages: readonly RulePage[];
  /**
   * Where the fixtures lie: `<rule>.<ending>` with markers, `<rule>.ok.<ending>` without. What runs rewards or reads logs has none: no
   * file shows by itself what it reports.
   */
  readonly fixtures?: string;
  /** What a rule's id begins with and its fixture's name does not. */
  readonly prefix?: string;
}

/** Rules of a framework's own. */
const ofFramework = (framework: Framework, heading: string): RuleGroup => ({
  heading,
  pages: frameworkRules.filter((rule) => rule.framework === framework),
  fixtures: `test/fixtures/frameworks/rules/${framework}`,
  prefix: `${framework}-`,
});

export const ruleGroups: readonly RuleGroup[] = [
  { heading: "Across fields", pages: rules, fixtures: "test/fixtures/config/rules" },
  { heading: "While reading", pages: structural, fixtures: "test/fixtures/config/rules" },
  {
    heading: "Keys and values of verl, TRL and OpenRLHF",
    pages: keyRules,
    fixtures: "test/fixtures/frameworks/rules/keys",
    prefix: "foreign-",
  },
  ofFramework("verl", "verl"),
  ofFramework("trl", "TRL"),
  ofFramework("openrlhf", "OpenRLHF"),
  { heading: "Rewards: gold answers, probes, attacks and tests", pages: checkPages },
  { heading: "Verdicts on runs and logs", pages: verdictPages },
];
