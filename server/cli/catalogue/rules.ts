import { readFileSync } from "node:fs";
import { InvalidArgumentError } from "commander";
import { UserError } from "../../../shared/lib/errors.ts";
import { rulePageFile } from "../../config/text/rulePages.ts";
import { nearest } from "../../lib/suggest.ts";
import { colours as pc } from "../text/colours.ts";
import { print, printJson, type Command } from "../command.ts";
import { ruleGroups } from "./ruleGroups.ts";

const every = ruleGroups.flatMap(({ heading, pages }) =>
  pages.map(({ id, title, why }) => ({ id, title, why, group: heading })),
);

export const command: Command = {
  name: "rules",
  configure: (program) => {
    program
      .argument("[id]", "one rule, or one verdict: what it says, why, and an example", knownRule)
      .option("--json", "one JSON value: id, title, why and group of each")
      .action((id: string | undefined, { json }: { json?: boolean }) => {
        if (json === true) printJson(every.filter((rule) => id === undefined || rule.id === id));
        else if (id === undefined) printList();
        else print(pageOf(id));
      });
  },
};

/** A verdict may be given as it is said: `too early`. */
function knownRule(word: string): string {
  const id = word.replaceAll(" ", "-");
  const ids = every.map((rule) => rule.id);
  if (ids.includes(id)) return id;
  const meant = nearest(id, ids);
  throw new InvalidArgumentError(
    `There is no rule ${id}. ${meant === undefined ? "" : `Did you mean ${meant}? `}"gradus rules" lists them.`,
  );
}

function printList(): void {
  const width = Math.max(...every.map(({ id }) => id.length));
  for (const [place, { heading, pages }] of ruleGroups.entries()) {
    print(`${place === 0 ? "" : "\n"}${heading}`);
    for (const { id, title } of pages) print(`  ${pc.bold(id.padEnd(width))}  ${title}`);
  }
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
