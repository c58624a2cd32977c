/** What the penalties of other trainers on the divergence from their reference have in common, as an export says it. */
import type { KlConfig } from "../../core/config/resolved.ts";
import { nameOf, type SettingsDraft } from "./exportDraft.ts";

type Coefficient = KlConfig["coefficient"];
type Adaptive = Extract<Coefficient, { use: "adaptive" }>;

export interface PlacedPenalty {
  /** `kl.0` */
  readonly key: string;
  readonly entry: KlConfig;
}

/**
 * The penalties that a trainer has: on its reference, the first of each place, or the first of all. The others are missing.
 */
export function ownPenalties(
  entries: readonly KlConfig[],
  draft: SettingsDraft,
  each: "of each place" | "of all",
): readonly PlacedPenalty[] {
  const used = new Set<string>();
  return entries.flatMap((entry, at) => {
    const key = `kl.${at}`;
    const place = each === "of all" ? "" : entry.place;
    if (entry.model === "reference" && !used.has(place)) {
      used.add(place);
      return [{ key, entry }];
    }
    draft.miss(
      key,
      `${entry.model} in the ${entry.place}`,
      `${draft.engine} has one penalty${each === "of all" ? "" : ` in the ${entry.place}`}, on the divergence from its reference: this one is left out.`,
    );
    return [];
  });
}

/** A bound that a trainer has on k3 whatever is asked for: on its log-ratio, and on the estimate of a token. */
const [mostLogRatio, mostOfK3] = [20, 10];

/** @param names the trainer's, by ours; one that it lacks is k3 */
export function penaltyEstimator(
  { key, entry: { estimator } }: PlacedPenalty,
  names: Readonly<Record<string, string>>,
  draft: SettingsDraft,
): string {
  const name = nameOf(estimator);
  const own = names[name];
  if (own === undefined) {
    draft.miss(`${key}.estimator`, name, `${draft.engine} has no such estimate: it takes k3.`);
    return names["k3"] ?? "k3";
  }
  if (name !== "k3") return own;
  const { clamp, clamp_log_ratio: log } = estimator.params;
  if ((clamp ?? null) !== mostOfK3)
    draft.miss(
      `${key}.estimator.clamp`,
      clamp ?? null,
      `${draft.engine} bounds a token's k3 by ${mostOfK3}.`,
      "guard",
    );
  if (typeof log === "number" && log < mostLogRatio)
    draft.miss(
      `${key}.estimator.clamp_log_ratio`,
      log,
      `${draft.engine} bounds k3's log-ratio by ${mostLogRatio}.`,
    );
  return own;
}

export const isAdaptive = (coefficient: Coefficient): coefficient is Adaptive =>
  typeof coefficient === "object" && "use" in coefficient;

/** @param where "TRL's coefficient", of one that does not adapt */
export function fixedCoefficient(
  { key, entry: { coefficient } }: PlacedPenalty,
  draft: SettingsDraft,
  where = `${draft.engine}'s coefficient in the loss`,
): number {
  if (!isAdaptive(coefficient)) return draft.constant(`${key}.coefficient`, coefficient);
  draft.miss(
    `${key}.coefficient`,
    coefficient,
    `${where} does not adapt: it stays at ${coefficient.initial}.`,
  );
  return coefficient.initial;
}

/** Proportional, by the mean over tokens, without bounds: the controller that the trainers have of Ziegler et al. (2019). */
export const isPlainController = ({ gain, rule, per, error_clip: clip, least, most }: Adaptive): boolean =>
  gain === undefined &&
  rule === "proportional" &&
  per === "token" &&
  clip === 0.2 &&
  least === 0 &&
  most === undefined;

/** What a trainer's controller is given, by the keys of its own. */
export function setController(
  { key, entry: { coefficient } }: PlacedPenalty,
  keys: { readonly start: string; readonly type: string; readonly target: string; readonly horizon: string },
  draft: SettingsDraft,
): void {
  if (!isAdaptive(coefficient))
    return draft.set(keys.start, draft.constant(`${key}.coefficient`, coefficient));
  draft.set(keys.type, "adaptive");
  draft.set(keys.start, coefficient.initial);
  draft.set(keys.target, coefficient.target);
  draft.set(keys.horizon, coefficient.horizon);
  if (!isPlainController(coefficient))
    draft.miss(
      `${key}.coefficient`,
      coefficient,
      `${draft.engine}'s controller is proportional, by the mean over tokens, without bounds.`,
    );
}

/** What no trainer's penalty has. @param weighted its ratio may weight it, which the trainer's own file says */
export function missPenaltyDetails(
  { key, entry }: PlacedPenalty,
  draft: SettingsDraft,
  weighted = false,
): void {
  const { direction, mask, shown, turns, weight, importance_weighted: by } = entry;
  const its = `${draft.engine}'s penalty`;
  const wrong: readonly (readonly [string, unknown, boolean, string])[] = [
    ["direction", direction, direction !== "reverse", `${draft.engine} estimates KL(policy ‖ reference).`],
    ["mask", mask, mask !== "all", `${its} acts on all responses.`],
    ["shown", shown, shown !== undefined, `${draft.engine}'s reference reads the prompt alone.`],
    ["turns", turns, turns !== undefined, `${its} acts on all turns.`],
    ["weight", weight, weight !== undefined, `${its} weights all tokens alike.`],
    [
      "importance_weighted",
      by,
      !weighted && by !== false,
      `${draft.engine} does not weight the penalty by the ratio.`,
    ],
  ];
  for (const [name, value, is, reason] of wrong) if (is) draft.miss(`${key}.${name}`, value, reason);
}
