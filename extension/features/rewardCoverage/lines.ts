/** Coverage of a reward's file as its lines show it. Pure. */
import type { BranchCoverage, FileCoverage, RewardCoverage } from "../../../shared/rollouts/coverage.ts";
import { formatCount } from "../../../shared/lib/format.ts";
import { exitNever } from "../../../shared/rollouts/coverageText.ts";
import { runText } from "../../../shared/rollouts/rescoreText.ts";
import { plainMarkdown } from "../../../shared/lib/visibleText.ts";

/** `partly`: a way on from it that no rollout took. */
export const reaches = ["reached", "partly", "never"] as const;
export type Reach = (typeof reaches)[number];

export interface CoveredLine {
  /** From 0. */
  readonly line: number;
  readonly reach: Reach;
  /** Markdown. */
  readonly hover: string;
}

/** The lines of a file on which a statement or a branch begins, ascending. */
export function coveredLines(coverage: RewardCoverage, file: FileCoverage): CoveredLine[] {
  const branches = new Map<number, BranchCoverage[]>();
  for (const branch of file.branches)
    branches.set(branch.line, [...(branches.get(branch.line) ?? []), branch]);
  const reached = new Map(file.lines.map(({ line, rollouts }) => [line, rollouts]));
  // A condition within a statement of several lines has a line of its own.
  for (const [line, own] of branches)
    if (!reached.has(line)) reached.set(line, Math.max(...own.map(({ rollouts }) => rollouts)));
  const over = runText({ ...coverage, name: plainMarkdown(coverage.name) });
  return [...reached]
    .sort(([a], [b]) => a - b)
    .map(([line, rollouts]) => {
      const missed = (branches.get(line) ?? []).filter((branch) => branch.rollouts === 0).map(exitNever);
      const reach = rollouts === 0 ? "never" : missed.length > 0 ? "partly" : "reached";
      return { line, reach, hover: `${said(rollouts, file.rollouts, missed)}\n\n${over}` };
    });
}

/** "reached by 312 of 20,480 rollouts; `else` never taken". */
const said = (rollouts: number, all: number, missed: readonly string[]): string =>
  rollouts === 0
    ? `reached by none of ${formatCount(all)} rollouts`
    : [`reached by ${formatCount(rollouts)} of ${formatCount(all)} rollouts`, ...new Set(missed)].join("; ");
