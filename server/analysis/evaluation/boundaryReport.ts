/** Two recorded evaluations of the same tasks, against each other. Pure. */
import type { BoundaryReport } from "../../../shared/run/boundaryReport.ts";
import type { TaskResults } from "../../../shared/run/taskResults.ts";
import { turnover } from "../../../shared/run/turnover.ts";
import type { Random } from "../../lib/random.ts";
import { measuredBoundary } from "./measuredBoundary.ts";

export function boundaryOf(
  own: TaskResults,
  other: TaskResults,
  random: Random,
): Pick<BoundaryReport, "boundary" | "greedy"> {
  const turned = turnover([
    { step: 0, results: other },
    { step: 1, results: own },
  ]);
  const ids = (of: readonly { readonly task: string }[]): readonly string[] => of.map(({ task }) => task);
  return {
    boundary: measuredBoundary(own, other, random) ?? null,
    greedy: turned === undefined ? null : { learned: ids(turned.learned), forgotten: ids(turned.forgotten) },
  };
}
