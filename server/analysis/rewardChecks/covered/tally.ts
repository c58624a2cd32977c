/** Adds up what the calls of several terms reach. */
import type { BranchCoverage, FileCoverage, LineCoverage } from "../../../../shared/rollouts/coverage.ts";
import type { Reached } from "../../../methods/reward/own/reached.ts";

/** How many reached each line and branch of a file, by its place. */
interface Counts {
  readonly lines: Map<number, LineCoverage>;
  readonly branches: Map<string, BranchCoverage>;
}

interface TermCounts {
  rollouts: number;
  readonly files: Map<string, Counts>;
}

type Together = (one: number, other: number) => number;
const sum: Together = (one, other) => one + other;

export class CoverageTally {
  private readonly terms = new Map<string, TermCounts>();

  /** What a term's calls have reached since it was asked last. */
  add(term: string, { rollouts, files }: Reached): void {
    const known = this.terms.get(term) ?? { rollouts: 0, files: new Map<string, Counts>() };
    this.terms.set(term, known);
    known.rollouts += rollouts;
    for (const one of files) addTo(countsOf(known.files, one.file), one.lines, one.branches, sum);
  }

  /** What two terms share counts by the one whose rollouts reach it most often: most rollouts meet both. */
  get files(): FileCoverage[] {
    const files = new Map<string, Counts>();
    const rollouts = new Map<string, number>();
    for (const term of this.terms.values())
      for (const [file, { lines, branches }] of term.files) {
        addTo(countsOf(files, file), lines.values(), branches.values(), Math.max);
        rollouts.set(file, Math.max(rollouts.get(file) ?? 0, term.rollouts));
      }
    return [...files].map(([file, { lines, branches }]) => ({
      file,
      rollouts: rollouts.get(file) ?? 0,
      lines: [...lines.values()].sort((a, b) => a.line - b.line),
      branches: [...branches.values()].sort((a, b) => a.line - b.line || a.character - b.character),
    }));
  }
}

function countsOf(files: Map<string, Counts>, file: string): Counts {
  const known = files.get(file) ?? { lines: new Map(), branches: new Map() };
  files.set(file, known);
  return known;
}

function addTo(
  counts: Counts,
  lines: Iterable<LineCoverage>,
  branches: Iterable<BranchCoverage>,
  together: Together,
): void {
  for (const { line, rollouts } of lines)
    counts.lines.set(line, { line, rollouts: together(counts.lines.get(line)?.rollouts ?? 0, rollouts) });
  for (const branch of branches) {
    const key = `${branch.line}:${branch.character} ${branch.kind} ${branch.exit}`;
    const before = counts.branches.get(key)?.rollouts ?? 0;
    counts.branches.set(key, { ...branch, rollouts: together(before, branch.rollouts) });
  }
}
