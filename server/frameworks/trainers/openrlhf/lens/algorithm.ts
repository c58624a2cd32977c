/** OpenRLHF's losses, KL and corrections as Gradus' independent choices. */
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import { fields, type ConfigDraft } from "../../../lens/configDraft.ts";
import type { Settings } from "../../../lens/settings.ts";

const chosen = "algo.advantage";

export function objective(settings: Settings, draft: ConfigDraft): void {
  const both = settings.list("actor.eps_clip_low_high")?.map(Number);
  const clip = settings.need("actor.eps_clip");
  const [low, high] = both ?? [clip, clip];
  const sequence = settings.text("actor.policy_loss_type") === "gspo";
  const dual = settings.number("actor.dual_clip");
  const entropy = settings.number("actor.entropy_coef") ?? 0;
  const mean: JsonObject = { use: "sequence_mean", empty_rows: "skip" };
  const perSequence = sequence || settings.text("actor.loss_agg_mode") === "seq-mean-token-mean";
  const corrected = correction(settings);
  draft.set("objective", {
    use: "clipped",
    low: low!,
    high: high!,
    ...fields({ dual }),
    ...(sequence ? { ratio: "sequence" } : { clamp_log_ratio: 20 }),
    // Under GSPO the ratio itself is against vLLM's probabilities.
    ...(sequence && corrected !== undefined ? { anchor: "sampled" } : {}),
    ...(!sequence && corrected !== undefined ? { correction: [corrected] } : {}),
    aggregate: perSequence ? mean : "token_mean",
    ...(entropy === 0
      ? {}
      : { entropy: perSequence ? { coefficient: entropy, aggregate: "token_mean" } : entropy }),
  });
  draft.set("kl", kl(settings, perSequence));
}

function kl(settings: Settings, perSequence: boolean): JsonObject[] {
  const start = settings.need("algo.kl.init_coef");
  const [target, horizon] = [settings.number("algo.kl.target"), settings.need("algo.kl.horizon")];
  const inLoss = settings.flag("algo.kl.use_loss");
  const kind = settings.text("algo.kl.estimator") ?? "k1";
  const unbiased = settings.flag("algo.kl.unbiased_gradient");
  if (start <= 0) return [];
  const estimator: JsonObject = {
    use: kind,
    ...(kind === "k3" ? { clamp_log_ratio: { low: -10 } } : {}),
    clamp: 10,
  };
  return [
    {
      model: "reference",
      estimator: inLoss && unbiased ? { ...estimator, straight_through: true } : estimator,
      place: inLoss ? "loss" : "reward",
      coefficient: target === undefined ? start : { use: "adaptive", initial: start, target, horizon },
      // A mean over tokens, whatever the policy's loss does.
      ...(inLoss && perSequence ? { aggregate: "token_mean" } : {}),
      ...(inLoss && unbiased ? { importance_weighted: { of: "gradient", detached: true, cap: 10 } } : {}),
    },
  ];
}

/** 0.11.0 and 0.11.1 have types, 0.11.2 a level, a mode and a gate. undefined: off. */
function correction(settings: Settings): JsonObject | undefined {
  const written = settings.list(`${chosen}.is_correction_threshold`)?.map(Number) ?? [0.5, 5];
  const [low, high] = written.length === 1 ? [0, written[0]!] : [written[0]!, written[1]!];
  const type = settings.text(`${chosen}.is_correction_type`);
  const level = settings.text(`${chosen}.is_correction_level`);
  const mode = settings.text(`${chosen}.is_correction_mode`);
  const gate = settings.text(`${chosen}.is_correction_gating`);
  if (settings.flag(`${chosen}.is_correction_enable`)) {
    if (type === "icepop") return { use: "mask", level: "token", low, high };
    if (type === "seq-mask-tis") return { use: "mask", level: "sequence_mean", weight: "token", low, high };
    return { use: "truncate", level: "token", low, high };
  }
  if (level === undefined || level === "off") return undefined;
  if (mode === "clip") return { use: "truncate", level: "token", low, high };
  const statistic: Json = gate === "ratio" || gate === undefined ? "ratio" : gate;
  return {
    use: "mask",
    level: level === "seq" ? "sequence_mean" : "token",
    ...(statistic === "ratio" ? {} : { statistic }),
    weight: "token",
    low,
    high,
  };
}
