/** One page a rule: what it sees and why, and the very fixtures in which its test sees it fire and stay silent. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { extname, join } from "node:path";
import { rulePageName } from "../../config/text/rulePages.ts";
import type { RulePage } from "../../rules/rule.ts";
import { ruleGroups, type RuleGroup } from "../catalogue/ruleGroups.ts";
import { code, page, prose, table } from "./markdown.ts";

/** Diagnostics that depend on what is installed next to a file: no fixture shows them. */
const unseen: ReadonlySet<string> = new Set(["trl-transformers"]);

/** File name → text. Throws where a rule has no fixture. */
export function rulePages(): ReadonlyMap<string, string> {
  const examples = new Map(ruleGroups.flatMap((group) => examplesOf(group)));
  return new Map([
    ["README.md", indexPage(examples)],
    ...ruleGroups.flatMap(({ pages }) =>
      pages.map((rule): [string, string] => [rulePageName(rule.id), rulePage(rule, examples.get(rule.id))]),
    ),
  ]);
}

interface Example {
  readonly fires: string;
  /** Of its fixtures, by their ending: `yaml`, `sh`, `py`. */
  readonly language: string;
  readonly silent: string | undefined;
  readonly severities: readonly string[];
}

const camel = (id: string): string => id.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The fixture of the rule's own name, else the first in which it fires. */
function examplesOf({ pages, fixtures: folder, prefix = "" }: RuleGroup): [string, Example][] {
  if (pages.length === 0 || folder === undefined) return [];
  const names = readdirSync(folder).filter(
    (name) => /\.(yaml|sh|py|txt)$/.test(name) && !/\.ok\./.test(name),
  );
  const files = names.sort().map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));
  return pages.flatMap(({ id }): [string, Example][] => {
    const firing = files.filter(({ text }) => text.includes(`[${id}]`));
    const best =
      firing.find(({ name }) => name.split(".")[0] === camel(id.slice(prefix.length))) ?? firing[0];
    if (best === undefined && unseen.has(id)) return [];
    if (best === undefined) throw new Error(`the rule ${id} fires in no file of ${folder}`);
    const near = join(folder, best.name.replace(".", ".ok."));
    const silent = existsSync(near) ? readFileSync(near, "utf8") : undefined;
    const marks = firing.flatMap(({ text }) => [...text.matchAll(new RegExp(`\\^ (\\w+) \\[${id}\\]`, "g"))]);
    const severities = ["error", "warning", "info"].filter((word) =>
      marks.some(([, found]) => found === word),
    );
    return [[id, { fires: best.text, silent, severities, language: extname(best.name).slice(1) }]];
  });
}

function indexPage(examples: ReadonlyMap<string, Example>): string {
  return page([
    "# Rules",
    "What `gradus validate` and the editor check, by the id at the end of each message; `gradus rules` prints the same list. An error keeps a run from starting. A warning is about a config that runs and is almost certainly not what was meant. In a file of verl, TRL or OpenRLHF, an error is what the framework refuses, at any time.",
    ...ruleGroups.flatMap(({ heading, pages }) => [
      `## ${heading}`,
      table(
        ["rule", "severity", "reports"],
        pages.map(({ id, title }) => [
          `[${id}](${rulePageName(id)})`,
          examples.get(id)?.severities.join(", ") ?? "",
          title,
        ]),
      ),
    ]),
  ]);
}

const rulePage = ({ id, title, why }: RulePage, example: Example | undefined): string =>
  page([
    `# ${title}`,
    example === undefined ? code(id) : `${code(id)}: ${example.severities.join(", ")}`,
    prose(why),
    ...(example === undefined ? [] : ["## Reported", fenced(example.fires, example.language)]),
    ...(example?.silent === undefined ? [] : ["## Not reported", fenced(example.silent, example.language)]),
    "[All rules](README.md)",
  ]);

const fenced = (text: string, language: string): string => `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
