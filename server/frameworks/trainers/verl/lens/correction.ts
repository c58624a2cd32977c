/** verl's `rollout_correction`: importance weights and rejections between sampler and trainer. */
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import { fields } from "../../../lens/configDraft.ts";
import type { Settings } from "../../../lens/settings.ts";

const correction = "algorithm.rollout_correction";

/** `2.0` is an upper bound, `0.5_5.0` a lower and an upper one. */
export function bounds(threshold: Json | undefined): { readonly low?: number; readonly high: number } {
  const parts = String(threshold ?? 2)
    .split("_")
    .map(Number);
  return parts.length > 1 ? { low: parts[0]!, high: parts[1]! } : { high: parts[0]! };
}

/** Importance weights first, of all tokens; then what is rejected leaves the mask. */
export function corrections(settings: Settings, bypass: boolean): JsonObject {
  const list: JsonObject[] = [];
  const numerator: JsonObject = bypass ? { numerator: "now" } : {};
  const level = settings.text(`${correction}.rollout_is`);
  const { low, high } = bounds(settings.get(`${correction}.rollout_is_threshold`));
  const normalise = settings.flag(`${correction}.rollout_is_batch_normalize`) ? { normalise: true } : {};
  // With bypass and PPO's clip the ratio itself corrects: verl computes the weights and does not use them.
  const weighs = !bypass || settings.text(`${correction}.loss_type`) === "reinforce";
  if (level !== undefined && weighs) {
    const shared = { ...numerator, level, high, clamp_log_ratio: 20, ...normalise };
    list.push(low === undefined ? { use: "truncate", ...shared } : { use: "mask", ...shared, low });
  }
  if (!rejectsFirst(settings))
    list.push(...rejections(settings).map((entry) => ({ use: "reject", ...entry, ...numerator })));
  return list.length === 0 ? {} : { correction: list };
}

/**
 * verl rejects before the advantages, so that whitening does not count what is gone: a mask. Its importance weights
 * are made before, of all tokens: if the rejection would change them, it becomes a correction after them.
 */
function rejectsFirst(settings: Settings): boolean {
  const level = settings.peek(`${correction}.rollout_is`);
  if (settings.peek(`${correction}.bypass_mode`) === true) return false;
  if (typeof level !== "string") return true;
  if (settings.peek(`${correction}.rollout_is_batch_normalize`) === true) return false;
  return level === "token" || !String(settings.peek(`${correction}.rollout_rs`)).includes("token_");
}

export const masks = (settings: Settings): JsonObject[] =>
  rejectsFirst(settings) ? rejections(settings).map((entry) => ({ use: "rejected", ...entry })) : [];

function rejections(settings: Settings): JsonObject[] {
  const names = settings.text(`${correction}.rollout_rs`);
  const spec = settings.get(`${correction}.rollout_rs_threshold`);
  if (names === undefined) return [];
  const kinds = [...new Set(names.split(",").map((name) => name.trim()))].filter((name) => name !== "");
  const thresholds = String(spec ?? "").split(",");
  const entries = kinds.flatMap((kind, i) => {
    const threshold = thresholds.length === 1 ? thresholds[0] : thresholds[i];
    const match = /^(token|seq_sum|seq_mean|seq_max)_(k[123])$/.exec(kind);
    if (match === null || threshold === undefined || threshold.trim() === "") {
      settings.refuse(
        `${correction}.rollout_rs`,
        `\`${kind}\` needs a threshold, or is not a rejection of verl`,
      );
      return [];
    }
    const { low, high } = bounds(threshold.trim());
    return [
      {
        estimator: match[2]!,
        level: match[1]!.replace("seq_", "sequence_"),
        ...fields({ low }),
        high,
      },
    ];
  });
  // verl applies all of them to the same tokens: whole responses first, which does not change the others.
  return entries.sort((a, b) => Number(a["level"] === "token") - Number(b["level"] === "token"));
}

/** Where verl's order of operations changes the effect of a rejection. */
export function rejectionNote(settings: Settings): void {
  const name = String(settings.peek("algorithm.adv_estimator"));
  const reads = ["gae", "reinforce_plus_plus", "reinforce_plus_plus_baseline", "gdpo", "opo"].includes(name);
  if (
    typeof settings.peek(`${correction}.rollout_rs`) === "string" &&
    reads &&
    !rejectsFirst(settings) &&
    settings.peek(`${correction}.bypass_mode`) !== true
  )
    settings.refuse(
      `${correction}.rollout_rs`,
      `verl removes rejected tokens before ${name} reads the mask; in Gradus they count in the advantages and leave the loss`,
    );
}
