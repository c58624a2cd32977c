/** What the calls of a user's reward reach of its files: asked for on demand, since marks make the function slower. */
import type { BranchCoverage, LineCoverage } from "../../../../shared/rollouts/coverage.ts";
import type { RewardTerm } from "../../../core/reward.ts";
import type { CoveredScript } from "./coveredScript.ts";
import type { FromHost } from "./wire.ts";

interface ReachedFile {
  /** Absolute path. */
  readonly file: string;
  readonly lines: readonly LineCoverage[];
  readonly branches: readonly BranchCoverage[];
}

export interface Reached {
  /** Calls that ended. */
  readonly rollouts: number;
  readonly files: readonly ReachedFile[];
  /** The `return` that gave the last call's value; `line` counts from 0. undefined: not known. */
  readonly returned: { readonly file: string; readonly line: number } | undefined;
}

export const noneReached: Reached = { rollouts: 0, files: [], returned: undefined };

/** Seconds for the counts themselves: the process only sends what it has. */
export const reachedSeconds = 10;

export interface CoveredReward extends RewardTerm {
  /**
   * From now on what calls reach is counted, each rollout's by itself.
   * @param unsaved the file's text as it is in an editor
   */
  cover(unsaved?: string): void;
  /** What calls have reached since this was asked last. */
  reached(): Promise<Reached>;
  close(): Promise<void>;
}

/** What a script's process has counted, by the places of its marks. */
export function reachedOf(
  { rollouts, counts, loading, returned }: Extract<FromHost, { kind: "reached" }>,
  { places }: CoveredScript,
): Reached {
  const [by, atLoad] = [new Map(counts), new Set(loading)];
  const files = new Map<string, { lines: LineCoverage[]; branches: BranchCoverage[] }>();
  places.forEach((place, number) => {
    const count = by.get(number) ?? 0;
    // What only loading runs, no rollout can reach.
    if (place.what === "return" || (count === 0 && atLoad.has(number))) return;
    const own = files.get(place.file) ?? { lines: [], branches: [] };
    files.set(place.file, own);
    const { line } = place;
    if (place.what === "branch") {
      const { character, kind, exit } = place;
      own.branches.push({ line, character, kind, exit, rollouts: count });
    } else own.lines.push({ line, rollouts: count });
  });
  const last = returned === null ? undefined : places[returned];
  return {
    rollouts,
    files: [...files].map(([file, own]) => ({ file, ...own })),
    returned: last && { file: last.file, line: last.line },
  };
}
