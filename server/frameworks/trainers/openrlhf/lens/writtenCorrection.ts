/** Importance weights for a sampler that is not the trainer. The mirror image of `convert/openrlhfAlgorithm.ts`. */
import type { Json } from "../../../../../shared/lib/json.ts";
import type { StageBody } from "../../../../core/config/resolved.ts";
import { nameOf, type Chosen } from "../../../lens/exportDraft.ts";
import type { OpenRlhfDraft } from "./draft.ts";

const section = "algo.advantage.is_correction";
/** A bound that no weight reaches. */
const unbounded = 1e9;

export function correction({ objective }: StageBody, draft: OpenRlhfDraft): void {
  const [first, ...more] = objective.correction;
  for (const one of more)
    draft.miss(
      "objective.correction",
      nameOf(one),
      "OpenRLHF has one importance weight: this one is left out.",
    );
  if (first === undefined) return;
  if (draft.settings["actor.policy_loss_type"] === "gspo")
    return draft.miss("objective.correction", nameOf(first), "OpenRLHF's gspo is not corrected.");
  const found = settingsOf(first);
  if (found === undefined)
    return draft.miss(
      "objective.correction",
      `${nameOf(first)} by ${String(first.params["level"] ?? "token")}`,
      "OpenRLHF cannot correct so: it does not correct.",
    );
  for (const [key, value] of Object.entries(found)) draft.set(`${section}_${key}`, value);
  draft.set(`${section}_threshold`, threshold(first.params));
  for (const [key, usual] of Object.entries(usualParams))
    if (first.params[key] !== undefined && first.params[key] !== usual)
      draft.miss(
        `objective.correction.${key}`,
        first.params[key],
        "OpenRLHF's correction has no such choice.",
      );
}

/** undefined: OpenRLHF has none of that kind. */
function settingsOf(one: Chosen): Readonly<Record<string, Json>> | undefined {
  const { level, statistic = "ratio", weight, low } = one.params;
  if (nameOf(one) === "truncate") return level === "token" ? { level: "token", mode: "clip" } : undefined;
  if (nameOf(one) !== "mask" || (level !== "token" && level !== "sequence_mean")) return undefined;
  const gating = String(statistic);
  // A divergence has no lower bound, and the ratios that are left weight their own tokens.
  const isRatio = gating === "ratio";
  if (isRatio ? level === "sequence_mean" && weight !== "token" : typeof low === "number" && low > 0)
    return undefined;
  return { level: level === "token" ? "token" : "seq", mode: "mask", gating };
}

function threshold({ low, high }: Chosen["params"]): Json {
  return [typeof low === "number" ? low : 0, typeof high === "number" ? high : unbounded];
}

const usualParams: Readonly<Record<string, Json>> = {
  numerator: "behaviour",
  denominator: "sampled",
  clamp_log_ratio: null,
  normalise: false,
};
