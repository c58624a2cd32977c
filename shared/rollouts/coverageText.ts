/** Coverage of a reward in words. */
import type { BranchCoverage, BranchExit } from "./coverage.ts";

const never: Readonly<Record<BranchExit, (kind: BranchCoverage["kind"]) => string>> = {
  then: (kind) => `${kind === "if" ? "`if`" : "the condition"} never true`,
  else: () => "`else` never taken",
  body: (kind) => `\`${kind}\` never entered`,
  end: (kind) => `\`${kind}\` never left at its end`,
};

/** What it means that no rollout took an exit: "`else` never taken". */
export const exitNever = ({ kind, exit }: BranchCoverage): string => never[exit](kind);
