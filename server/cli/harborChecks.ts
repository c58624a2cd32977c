/** `gradus test FOLDER` of Harbor task folders: the solution earns exactly 1, doing nothing exactly 0. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { plural } from "../../shared/lib/format.ts";
import { visibleText } from "../../shared/lib/visibleText.ts";
import { checkHarborFolder, type HarborOutcome } from "../lib/harbor/check.ts";
import type { Limits } from "../lib/harbor/limits.ts";
import { harborFolders } from "../lib/harbor/taskFolder.ts";
import { complain, print, printJson } from "./command.ts";
import { pathText } from "./text/diagnostics.ts";

/** Of the words that are folders, those with Harbor tasks in them. */
export const harborFoldersOf = (words: readonly string[]): readonly string[] => [
  ...new Set(
    words
      .filter((word) => statSync(word, { throwIfNoEntry: false })?.isDirectory() === true)
      .flatMap((word) => harborFolders(resolve(word))),
  ),
];

/** A program that asks the kernel for other processors than it is shown gets them. */
const limitsText = ({ memory, processors }: Limits): string =>
  `may take ${memory} MB of memory${processors === undefined ? "" : ` and is shown ${plural(Math.ceil(processors), "processor")} (not enforced)`}`;

function show(outcome: HarborOutcome, json: boolean): void {
  const { kind, folder } = outcome;
  if (json) {
    const message = outcome.kind === "passed" ? null : outcome.message;
    const at = outcome.kind === "refused" ? { file: outcome.file, line: outcome.line } : {};
    const limits = outcome.kind === "passed" ? { limits: outcome.limits } : {};
    return printJson({ type: "harbor", folder, outcome: kind, message, ...at, ...limits });
  }
  if (outcome.kind === "passed")
    return print(
      `${pathText(folder)}: the solution earns 1, doing nothing 0; an episode ${limitsText(outcome.limits)}`,
    );
  const place = outcome.kind === "refused" ? `${pathText(outcome.file)}:${outcome.line}:1` : pathText(folder);
  complain(visibleText(`${place}: error: ${outcome.message} [harbor-${kind}]`));
}

/** One after the other. @throws UserError where this machine has no namespaces */
export async function checkHarbor(
  folders: readonly string[],
  json: boolean,
): Promise<Record<HarborOutcome["kind"], number>> {
  const counts = { passed: 0, failed: 0, refused: 0 };
  for (const folder of folders) {
    const outcome = await checkHarborFolder(folder);
    show(outcome, json);
    counts[outcome.kind] += 1;
  }
  return counts;
}
