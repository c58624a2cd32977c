/** Rollouts that were recorded as texts alone: what is counted by token says nothing of them. */
import type { Advantages } from "../../algorithm/advantages/tokenAdvantages.ts";
import type { Batch } from "../../core/rollouts.ts";
import { rowsOfGroups } from "../../core/rows/batch.ts";
import { mean } from "../../../shared/lib/mean.ts";

export const isTokenless = (batch: Batch): boolean => batch.rows > 0 && batch.tokens.length === 0;

const byToken = new Set(["rollout/length", "rollout/truncated", "tokens/trained"]);

/** The metrics of a step without those by token; what follows from advantages follows from those of whole rollouts. */
export function metricsOfRows(
  metrics: Readonly<Record<string, number>>,
  batch: Batch,
  { rows }: Advantages,
): Record<string, number> {
  const known = [...rows].filter((advantage) => !Number.isNaN(advantage));
  const groups = rowsOfGroups(batch)
    .map((members) => members.map((row) => rows[row]!).filter((advantage) => !Number.isNaN(advantage)))
    .filter((members) => members.length > 0);
  return {
    ...Object.fromEntries(Object.entries(metrics).filter(([name]) => !byToken.has(name))),
    ...(known.length === 0 ? {} : { "advantage/mean_abs": mean(known.map(Math.abs)) }),
    ...(groups.length === 0
      ? {}
      : {
          "groups/zero_advantage":
            groups.filter((members) => members.every((advantage) => advantage === 0)).length / groups.length,
        }),
  };
}
