/** Which distribution a ratio is against, and where its log-probs are. */
import { sampledColumn } from "../../../core/rows/columns.ts";
import { z } from "zod";
import { param } from "../../../core/declaration.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { Model } from "../../../core/basics.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { ObjectiveInput } from "../../../core/loss.ts";
import { column } from "../column.ts";

export const anchorParam = param(
  z.enum(["behaviour", "proximal", "interpolated", "reference", "sampled"]).default("behaviour"),
  "The denominator of the ratio. behaviour: the model that generated, at temperature 1; sampled: the distribution that the sampler drew from; proximal: the policy before the step's updates, computed again; interpolated: an estimate of proximal between behaviour and the current policy, by the weights' versions; reference: the reference model.",
);

export type Anchor = z.output<typeof anchorParam>;

/** The models besides the behaviour whose log-probs an anchor needs. */
export const anchorModels = (anchor: Anchor): readonly Model[] =>
  anchor === "reference" || anchor === "proximal" ? [anchor] : [];

/** The log-probs that the ratio is against, per token. @throws UserError naming the column that is missing */
export function anchorColumn(
  { batch, now, old, version }: Pick<ObjectiveInput, "batch" | "now" | "old" | "version">,
  anchor: Anchor,
): Float64Array {
  const who = `a ratio to ${anchor}`;
  switch (anchor) {
    case "behaviour":
      return column(old, "logp", "the objective");
    case "reference":
    case "proximal":
      return column(old, `logp:${anchor}`, who);
    case "sampled":
      return sampledColumn(batch, who);
    case "interpolated":
      return interpolated(batch, column(now, "logp", who), column(old, "logp", who), version);
  }
}

/**
 * log π_prox ≈ log π_behav + α (log π − log π_behav), α = (v_prox − v_behav) / (v − v_behav) in [0, 1], from the
 * versions of the weights: v that of now, v_prox that at the start of the step's updates.
 */
function interpolated(
  { columns, version: start }: Batch,
  now: Float64Array,
  behaviour: Float64Array,
  version: number | undefined,
): Float64Array {
  const { versions } = columns;
  if (versions === undefined || version === undefined)
    throw new UserError("a ratio to interpolated log-probs needs the weights' version of each token", {
      code: "channel-missing",
      action: "Record `versions` with the rollouts, or choose another anchor.",
    });
  const proximal = start ?? version - 1;
  return behaviour.map((then, i) => {
    const [gap, all] = [proximal - versions[i]!, version - versions[i]!];
    const alpha = versions[i]! < 0 || all <= 0 ? 0 : Math.min(1, Math.max(0, gap / all));
    return alpha === 0 ? then : then + alpha * (now[i]! - then);
  });
}
