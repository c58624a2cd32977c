/** The divergence from the reference, and masks. */
import type { KlConfig, StageBody } from "../../../../core/config/resolved.ts";
import { nameOf } from "../../../lens/exportDraft.ts";
import type { SkyrlDraft } from "./draft.ts";
import { algorithm } from "./keys.ts";

const estimators: ReadonlySet<string> = new Set(["k1", "k2", "k3", "abs"]);
/** SkyRL bounds k3's log-ratio by the one, and the estimate by the other. */
const [logBound, mostOfK3] = [20, 10];

/** One: in the reward or in the loss. */
export function kl({ kl: entries, objective }: StageBody, draft: SkyrlDraft): void {
  draft.set(`${algorithm}.use_kl_loss`, false);
  let used = false;
  for (const [at, entry] of entries.entries()) {
    const key = `kl.${at}`;
    if (used || entry.model !== "reference") {
      draft.miss(
        key,
        `${entry.model} in the ${entry.place}`,
        "SkyRL has one penalty, on the divergence from its reference: this one is left out.",
      );
      continue;
    }
    used = true;
    draft.set(`${algorithm}.use_kl_${entry.place === "loss" ? "loss" : "in_reward"}`, true);
    draft.set(`${algorithm}.kl_estimator_type`, estimatorOf(key, entry, draft));
    coefficient(key, entry, draft);
    details(key, entry, nameOf(objective.aggregate), draft);
  }
}

function estimatorOf(key: string, { estimator }: KlConfig, draft: SkyrlDraft): string {
  const name = nameOf(estimator);
  if (!estimators.has(name)) {
    draft.miss(`${key}.estimator`, name, "SkyRL has no such estimate: it takes k3.");
    return "k3";
  }
  const { straight_through: straight, clamp, clamp_log_ratio: log } = estimator.params;
  if (name === "k3" && (clamp ?? null) !== mostOfK3)
    draft.miss(`${key}.estimator.clamp`, clamp ?? null, `SkyRL bounds a token's k3 by ${mostOfK3}.`, "guard");
  if (name === "k3" && typeof log === "number" && log < logBound)
    draft.miss(`${key}.estimator.clamp_log_ratio`, log, `SkyRL bounds k3's log-ratio by ${logBound}.`);
  if (straight === true && name !== "k2")
    draft.miss(`${key}.estimator.straight_through`, true, `SkyRL's gradient is that of ${name} itself.`);
  return name;
}

const [controller, usualHorizon] = [
  `${algorithm}.kl_ctrl`,
  { gain: undefined, rule: "proportional", per: "token", error_clip: 0.2, least: 0, most: undefined },
];

function coefficient(key: string, { coefficient: own, place }: KlConfig, draft: SkyrlDraft): void {
  const value = `${algorithm}.kl_loss_coef`;
  if (typeof own === "number" || "schedule" in own)
    return draft.set(value, draft.constant(`${key}.coefficient`, own));
  draft.set(value, own.initial);
  if (place === "loss")
    return draft.miss(
      `${key}.coefficient`,
      own,
      `SkyRL's coefficient in the loss does not adapt: it stays at ${own.initial}.`,
    );
  draft.set(`${controller}.type`, "adaptive");
  draft.set(`${controller}.kl_target`, own.target);
  draft.set(`${controller}.horizon`, own.horizon);
  const { gain, rule, per, error_clip, least, most } = own;
  if (JSON.stringify({ gain, rule, per, error_clip, least, most }) !== JSON.stringify(usualHorizon))
    draft.miss(
      `${key}.coefficient`,
      own,
      "SkyRL's controller is proportional, by the mean over tokens, without bounds.",
    );
}

function details(key: string, entry: KlConfig, normaliser: string, draft: SkyrlDraft): void {
  const mean = entry.aggregate === "objective" ? normaliser : entry.aggregate;
  const wrong: readonly (readonly [string, unknown, boolean, string])[] = [
    ["direction", entry.direction, entry.direction !== "reverse", "SkyRL estimates KL(policy ‖ reference)."],
    ["mask", entry.mask, entry.mask !== "all", "SkyRL's penalty acts on all responses."],
    ["shown", entry.shown, entry.shown !== undefined, "SkyRL's reference reads the prompt alone."],
    ["turns", entry.turns, entry.turns !== undefined, "SkyRL's penalty acts on all turns."],
    ["weight", entry.weight, entry.weight !== undefined, "SkyRL's penalty weights all tokens alike."],
    [
      "importance_weighted",
      entry.importance_weighted,
      entry.importance_weighted !== false,
      "SkyRL does not weight the penalty by the ratio.",
    ],
    [
      "aggregate",
      mean,
      entry.place === "loss" && mean !== "sequence_mean",
      "SkyRL averages the penalty over each response's tokens, then over responses.",
    ],
  ];
  for (const [name, value, is, reason] of wrong) if (is) draft.miss(`${key}.${name}`, value, reason);
}

export function mask({ mask: chosen }: StageBody, draft: SkyrlDraft): void {
  for (const one of chosen) {
    const name = nameOf(one);
    if (name === "overlong") draft.set("generator.apply_overlong_filtering", true);
    else if (name !== "rejected")
      draft.miss(`mask.${name}`, name, "SkyRL has no such mask: these tokens train.");
  }
}
