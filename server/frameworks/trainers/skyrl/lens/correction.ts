/** SkyRL's `off_policy_correction`: importance weights, and what is left out of the loss, between sampler and trainer. */
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import type { Settings } from "../../../lens/settings.ts";

const algorithm = "trainer.algorithm";
const section = `${algorithm}.off_policy_correction`;

/** The loss `rollout_is`: its weight is the ratio of the policy to the sampler, 0 beyond the bounds. */
export function rolloutWeights(settings: Settings): JsonObject[] {
  const [low, high] = ["low", "high"].map((side) => settings.need(`${algorithm}.eps_clip_${side}`)) as [
    number,
    number,
  ];
  if (weightOf(settings) !== undefined)
    settings.refuse(`${section}.tis_ratio_type`, "Gradus corrects this loss once: by the policy's own ratio");
  return [
    {
      use: "mask",
      numerator: "now",
      level: "token",
      low: rounded(1 - low),
      high: rounded(1 + high),
      clamp_log_ratio: 20,
    },
  ];
}

/** Without the noise of the sum. */
const rounded = (value: number): number => Number(value.toPrecision(12));

interface Weight {
  readonly level: "token" | "sequence";
  readonly cap: number;
}

function weightOf(settings: Settings): Weight | undefined {
  const level = settings.text(`${section}.tis_ratio_type`);
  const caps = {
    token: settings.need(`${section}.token_tis_ratio_clip_high`),
    sequence: settings.need(`${section}.sequence_tis_ratio_clip_high`),
  };
  // An earlier release's switch, which the present one reads too.
  if (settings.flag(`${algorithm}.use_tis`))
    return { level: "token", cap: settings.need(`${algorithm}.tis_imp_ratio_cap`) };
  return level === "token" || level === "sequence" ? { level, cap: caps[level] } : undefined;
}

interface Gate {
  readonly key: string;
  readonly level: "token" | "sequence" | "sequence_mean";
  readonly low: number;
  readonly high: number;
}

/** What leaves the loss. */
function gatesOf(settings: Settings): readonly Gate[] {
  const metric = settings.text(`${section}.sequence_mask_metric`);
  const pair = (name: string): { low: number; high: number } => ({
    low: settings.need(`${section}.${name}_low`),
    high: settings.need(`${section}.${name}_high`),
  });
  const [product, geometric] = [pair("product_mask"), pair("geo_mask")];
  const [low, high] = ["low", "high"].map((side) =>
    settings.number(`${section}.token_mask_is_threshold_${side}`),
  );
  const key = `${section}.sequence_mask_metric`;
  return [
    ...(low === undefined || high === undefined
      ? []
      : [{ key: `${section}.token_mask_is_threshold_high`, level: "token" as const, low, high }]),
    ...(metric === "product" ? [{ key, level: "sequence" as const, ...product }] : []),
    ...(metric === "geometric" ? [{ key, level: "sequence_mean" as const, ...geometric }] : []),
  ];
}

export function corrections(settings: Settings): JsonObject[] {
  const weight = weightOf(settings);
  const [gate, ...more] = gatesOf(settings);
  for (const side of ["low", "high"]) {
    const key = `${section}.outlier_token_is_threshold_${side}`;
    if (settings.number(key) !== undefined)
      settings.refuse(key, "Gradus leaves out no response because of one token");
  }
  for (const { key } of more) settings.refuse(key, "Gradus holds the weights against one pair of bounds");
  if (gate === undefined)
    return weight === undefined
      ? []
      : [{ use: "truncate", level: weight.level, high: weight.cap, clamp_log_ratio: 20 }];
  const { key, level, low, high } = gate;
  if (weight === undefined) {
    settings.refuse(key, "Gradus weights what is within the bounds, too; here nothing is corrected");
    return [];
  }
  if (weight.level === "sequence" && level !== "sequence") {
    settings.refuse(key, "Gradus bounds the unit that it weights; here only the weight is bounded");
    return [{ use: "truncate", level: "sequence", high: weight.cap, clamp_log_ratio: 20 }];
  }
  const own = weight.level === level;
  if (weight.cap < (own ? high : Math.exp(20)))
    settings.refuse(
      `${section}.${weight.level}_tis_ratio_clip_high`,
      "Gradus caps no weight of what is within the bounds",
    );
  return [{ use: "mask", level, low, high, ...(own ? {} : { weight: "token" }), clamp_log_ratio: 20 }];
}
