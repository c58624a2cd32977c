/** TRL's losses, KL and corrections as Gradus' independent choices. */
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import { fields, type ConfigDraft } from "../../../lens/configDraft.ts";
import type { Settings } from "../../../lens/settings.ts";

function aggregateOf(settings: Settings, kind: string): Json {
  if (["grpo", "sapo"].includes(kind)) return { use: "sequence_mean", empty_rows: "count" };
  if (kind === "dr_grpo")
    return { use: "sequence_sum_norm", budget: settings.need("max_completion_length"), empty_rows: "count" };
  return kind === "luspo" ? { use: "sequence_sum", empty_rows: "count" } : "token_mean";
}

export function objective(settings: Settings, draft: ConfigDraft): void {
  const kind = settings.text("loss_type") ?? "dapo";
  const aggregate = aggregateOf(settings, kind);
  const entropy = settings.need("entropy_coef");
  const sequence = settings.text("importance_sampling_level") === "sequence";
  draft.set("objective", {
    ...lossOf(settings, kind),
    ...(sequence && kind !== "vespo" ? { ratio: "sequence" } : {}),
    ...correction(settings),
    aggregate,
    ...bonus(settings, entropy),
  });
  const beta = settings.need("beta");
  const weighted = settings.get("use_bias_correction_kl") !== false;
  draft.set(
    "kl",
    beta === 0
      ? []
      : [
          {
            model: "reference",
            estimator: "k3",
            place: "loss",
            coefficient: beta,
            ...(weighted ? { importance_weighted: sequence ? { level: "sequence" } : true } : {}),
          },
        ],
  );
  if (settings.flag("sync_ref_model"))
    settings.refuse("sync_ref_model", "write a copy under `models` (`polyak`) and name it in the `kl` entry");
}

/** A mean over the tokens that it acts on, whatever the loss does; it may follow the measured entropy. */
function bonus(settings: Settings, coefficient: number): JsonObject {
  const limits = {
    target: settings.number("entropy_target") ?? 0.2,
    delta: settings.number("entropy_coef_delta") ?? 0.005,
    least: settings.number("entropy_coef_min") ?? 0,
    most: settings.number("entropy_coef_max") ?? 1,
  };
  const adaptive = settings.flag("use_adaptive_entropy");
  if (coefficient === 0 && !adaptive) return {};
  return { entropy: { coefficient, aggregate: "token_mean", ...(adaptive ? { adaptive: limits } : {}) } };
}

function lossOf(settings: Settings, kind: string): JsonObject {
  const low = settings.need("epsilon");
  const high = settings.number("epsilon_high") ?? low;
  const delta = settings.number("delta");
  switch (kind) {
    case "cispo":
      // TRL's epsilon_high is the cap of the ratio itself.
      return { use: "cispo", low: null, high: Number((high - 1).toPrecision(12)) };
    case "sapo":
      return {
        use: "sapo",
        tau_pos: settings.need("sapo_temperature_pos"),
        tau_neg: settings.need("sapo_temperature_neg"),
      };
    case "vespo": {
      const shapes = ["k_pos", "lambda_pos", "k_neg", "lambda_neg"];
      return {
        use: "vespo",
        ...Object.fromEntries(shapes.map((key) => [key, settings.need(`vespo_${key}`)])),
      };
    }
    case "grpo":
    case "bnpo":
    case "dr_grpo":
    case "dapo":
    case "luspo":
      return { use: "clipped", low, high, ...fields({ delta }) };
    default:
      settings.refuse("loss_type", "TRL 1.16 does not have this loss; dapo is used instead");
      return { use: "clipped", low, high, ...fields({ delta }) };
  }
}

/** Between vLLM's probabilities and the trainer's: only if vLLM generates. */
function correction(settings: Settings): JsonObject {
  const mode = settings.text("vllm_importance_sampling_mode") ?? "sequence_mask";
  const [low, most] = [
    settings.number("vllm_importance_sampling_clip_min"),
    settings.get("vllm_importance_sampling_clip_max"),
  ];
  const cap = settings.number("vllm_importance_sampling_cap");
  const on = settings.get("vllm_importance_sampling_correction") !== false;
  if (!settings.flag("use_vllm") || !on) return {};
  const match = /^(token|sequence)_(truncate|mask)$/.exec(mode);
  if (match === null) {
    settings.refuse("vllm_importance_sampling_mode", "not a mode of TRL 1.16");
    return {};
  }
  const high = cap ?? (typeof most === "number" ? most : null);
  return { correction: [{ use: match[2]!, level: match[1]!, low: low ?? null, high }] };
}

export function masks(settings: Settings): JsonObject[] {
  const share = settings.need("top_entropy_quantile");
  const threshold = settings.number("off_policy_mask_threshold");
  return [
    ...(settings.flag("mask_truncated_completions") ? [{ use: "overlong" }] : []),
    ...(threshold === undefined
      ? []
      : [
          {
            use: "off_policy_sequence",
            threshold,
            ...(settings.peek("use_vllm") === true ? {} : { against: "behaviour" }),
          },
        ]),
    ...(share < 1 ? [{ use: "top_entropy", share }] : []),
  ];
}
