import { readFileSync } from "node:fs";
import { InvalidArgumentError } from "commander";
import { UserError } from "../../../shared/lib/errors.ts";
import { checkPages } from "../../analysis/rewardChecks/pages.ts";
import { rulePageFile } from "../../config/text/rulePages.ts";
import { rules } from "../../rules/index.ts";
import type { RulePage } from "../../rules/rule.ts";
import { structural } from "../../rules/structural.ts";
import { nearest } from "../../lib/suggest.ts";
import { keyRules } from "../../frameworks/check/keyRules.ts";
import { frameworkRules } from "../../frameworks/index.ts";
import { colours as pc } from "../text/colours.ts";
import { print, printJson, type Command } from "../command.ts";

const every: readonly RulePage[] = [...rules, ...structural, ...keyRules, ...frameworkRules, ...checkPages];

export const command: Command = {
  name: "rules",
  configure: (program) => {
    program
      .argument("[id]", "one rule: what it checks, why, and an example", knownRule)
      .option("--json", "one JSON value: id, title and why of each")
      .action((id: string | undefined, { json }: { json?: boolean }) => {
        const chosen = every.filter((rule) => id === undefined || rule.id === id);
        if (json === true) printJson(chosen.map(({ id, title, why }) => ({ id, title, why })));
        else if (id === undefined) printList(chosen);
        else print(pageOf(id));
      });
  },
};

function knownRule(id: string): string {
  const ids = every.map((rule) => rule.id);
  if (ids.includes(id)) return id;
  const meant = nearest(id, ids);
  throw new InvalidArgumentError(
    `There is no rule ${id}. ${meant === undefined ? "" : `Did you mean ${meant}? `}"gradus rules" lists them.`,
  );
}

function printList(chosen: readonly RulePage[]): void {
  const width = Math.max(...chosen.map(({ id }) => id.length));
  for (const { id, title } of chosen) print(`${pc.bold(id.padEnd(width))}  ${title}`);
}

/** The page that the build wrote, without its note to those who would edit it. */
function pageOf(id: string): string {
  const file = rulePageFile(id);
  if (file === undefined)
    throw new UserError(`the page of the rule ${id} is missing`, { action: "Reinstall Gradus." });
  return readFileSync(file, "utf8")
    .replace(/^<!--.*-->\s*/, "")
    .trimEnd();
}
