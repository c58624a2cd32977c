/** What `gradus reward --coverage` prints of a file. */
import { basename } from "node:path";
import type { BranchCoverage, FileCoverage } from "../../../shared/rollouts/coverage.ts";
import { placeIn } from "../../analysis/rewardChecks/ownFiles.ts";
import { formatCount } from "../../../shared/lib/format.ts";
import { exitNever } from "../../../shared/rollouts/coverageText.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import { pathText } from "../text/diagnostics.ts";

/** Lines of a file that a terminal lists. */
const listed = 40;

const share = (part: number, all: number, what: string): string =>
  `${part} of ${all} ${what}${all === 1 ? "" : what === "branch" ? "es" : "s"}`;

/** "reward.py: 14 of 17 lines, 5 of 8 branches over 204,800 rollouts". */
export function coverageText({ file, rollouts, lines, branches }: FileCoverage): string {
  const taken = (list: readonly { readonly rollouts: number }[]): number =>
    list.filter((one) => one.rollouts > 0).length;
  const parts = [
    share(taken(lines), lines.length, "line"),
    ...(branches.length === 0 ? [] : [share(taken(branches), branches.length, "branch")]),
  ];
  return `${visibleText(basename(file))}: ${parts.join(", ")} over ${formatCount(rollouts)} rollout${rollouts === 1 ? "" : "s"}`;
}

function placeText(file: string, line: number): string {
  const place = placeIn(file, line);
  const cell = place.cell === undefined ? "" : ` cell ${place.cell}`;
  return `${pathText(file)}${cell}:${place.line + 1}`;
}

/**
 * The lines that no rollout reached, and the exits that none took of those that were reached.
 * @param source the file's lines
 */
export function missedLines({ file, lines, branches }: FileCoverage, source: readonly string[]): string[] {
  const never = new Set(lines.filter(({ rollouts }) => rollouts === 0).map(({ line }) => line));
  const found = [
    ...[...never].map((line) => ({ line, character: 0, what: "never reached" })),
    ...branches
      .filter((branch) => branch.rollouts === 0 && !never.has(branch.line))
      .map((branch: BranchCoverage) => ({ ...branch, what: exitNever(branch) })),
  ].sort((a, b) => a.line - b.line || a.character - b.character);
  const said = found
    .slice(0, listed)
    .map(({ line, what }) =>
      visibleText(`${placeText(file, line)}: ${what}: ${(source[line] ?? "").trim()}`),
    );
  return found.length > listed
    ? [...said, `… and ${found.length - listed} more: --json lists them all`]
    : said;
}
