import { pathToFileURL } from "node:url";
import { formatCount, plural } from "../../../../shared/lib/format.ts";
import { placeText } from "../../../../shared/rollouts/failureText.ts";
import { mostRewards, said } from "../../../../shared/run/outcome.ts";
import type { EvidenceKind, DiagnosticSighting } from "../kind.ts";
import { lastWhere } from "../numbers.ts";
import type { RunRecord } from "../record.ts";
import { member } from "../where.ts";

export const termErrors: EvidenceKind = {
  id: "run-term-errors",
  see: (view) =>
    view.keys("reward.terms").flatMap((term): DiagnosticSighting | [] => {
      const points = view.recent(`reward/${term}/errors`);
      const last = lastWhere(points, (value) => value > 0);
      if (last === undefined) return [];
      const failed = points.values.reduce((sum, value) => sum + (Number.isNaN(value) ? 0 : value), 0);
      const all = [...view.rollouts.values()].reduce((sum, count) => sum + count, 0);
      const { failures } = view.record;
      const why = said(term, failures);
      return {
        level: "diagnostic",
        ...(all > 0 && failed >= all * mostRewards ? { severity: "warning" as const } : {}),
        at: `reward.terms.${term}`,
        reads: [{ path: `reward.terms.${term}`, except: ["weight"] }],
        term,
        metric: `reward/${term}/errors`,
        message: `\`${term}\` failed on ${formatCount(failed)} of ${plural(all, "rollout")} in ${view.over(points.steps.length)}, most recently in step ${last.step}${why}. Failed rollouts are left out of their groups.`,
        rollouts: { step: last.step, where: `${member("errors", term)} != null` },
        places: placesOf(term, failures),
      };
    }),
};

/** The lines that threw, each once. */
function placesOf(term: string, failures: RunRecord["failures"]): NonNullable<DiagnosticSighting["places"]> {
  const own = failures.filter((failure) => failure.term === term && failure.file !== null);
  const byPlace = new Map(own.toReversed().map((failure) => [placeText(failure), failure]));
  return [...byPlace.values()].toReversed().map(({ file, line, column, message }) => ({
    file: file ?? "",
    uri: pathToFileURL(file ?? "").href,
    line: line ?? 1,
    column: column ?? 1,
    message,
  }));
}
