import type { Paper } from "../../../shared/editor/papers.ts";
import { listPapers } from "../../config/papers.ts";
import { exit, complain, print, printJson, type Command } from "../command.ts";
import { colours as pc } from "../text/colours.ts";

export const command: Command = {
  name: "papers",
  configure: (program) => {
    program
      .argument("[text...]", "words of a title in any order and case, or an arXiv id")
      .option("--json", "one JSON list")
      .action((words: readonly string[], { json }: { json?: boolean }) => {
        const found = listPapers().filter((paper) => matches(paper, words.join(" ")));
        if (json === true) return printJson(found);
        if (words.length > 0 && found.length === 0) return nothing(words.join(" "));
        if (words.length > 0) return found.forEach((paper) => print(whole(paper)));
        for (const [title, papers] of apart(found))
          print([`${title}: ${papers.length}`, ...papers.map(line), ""].join("\n"));
      });
  },
};

/** Every word is in the title, or the text is the paper's arXiv id, with or without its version or address. */
function matches({ title, arxiv }: Paper, text: string): boolean {
  const id = /(\d{4}\.\d{4,5})(v\d+)?$/.exec(text.trim())?.[1];
  if (id !== undefined && id === arxiv) return true;
  const folded = title.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => folded.includes(word));
}

/** The list, and the papers that were added to it later. */
function apart(papers: readonly Paper[]): readonly (readonly [string, readonly Paper[]])[] {
  const later = papers.filter(({ list }) => list === "later");
  return [
    ["Papers of the list", papers.filter((paper) => !later.includes(paper))],
    ["Papers added later", later],
  ];
}

const line = ({ title, status, presets }: Paper): string =>
  `${status.padEnd(11)}  ${title}${presets.length === 0 ? "" : pc.dim(`  ${presets.join(", ")}`)}`;

function whole({ title, arxiv, status, presets, commands, follows }: Paper): string {
  const facts = [
    status === "none" ? "Gradus has nothing of it." : `status: ${status}`,
    ...(presets.length === 0 ? [] : [`presets: ${presets.join(", ")}`]),
    ...commands,
    ...(follows?.split("\n") ?? []),
  ];
  const head = pc.bold(title) + (arxiv === undefined ? "" : ` (arXiv ${arxiv})`);
  return [head, ...facts.map((fact) => `  ${fact}`), ""].join("\n");
}

function nothing(text: string): void {
  complain(`No title has the words "${text}". "gradus papers" lists them all.`);
  process.exitCode = exit.failed;
}
