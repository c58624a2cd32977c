/**
 * What trackers' charts call a run's metrics: the names of the trainer that made the run, else TRL's, as transformers' callbacks
 * log them (`train/reward`). A name that reading would not take back to the run's own stays the run's own.
 */
import { metricNamed } from "../../../shared/metrics/metrics.ts";
import type { Writer } from "../../../shared/run/origin.ts";
import { namers, type Namer } from "../../../shared/run/trainers.ts";
import { ownName } from "../imported/metricNames.ts";

/** Whose names an export of a run has. */
export const namerOf = (trainer: Writer | undefined): Namer =>
  namers.find((namer) => namer === trainer) ?? "trl";

export function theirName(namer: Namer, own: string): string {
  const metric = metricNamed(own);
  const [alias] = metric?.aliases?.[namer] ?? [];
  if (metric === undefined || alias === undefined) return own;
  const term = new RegExp(`^${metric.name.replace("<term>", "(.+)").replace(/<\w+>/g, ".+")}$`).exec(
    own,
  )?.[1];
  const name = alias.replace("<term>", term ?? "");
  if (ownName(namer, name) !== own) return own;
  return namer === "trl" ? `train/${name}` : name;
}
