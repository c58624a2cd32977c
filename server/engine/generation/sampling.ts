/** What tokens are drawn from, as the options of decoding say it. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { DecodeOptions } from "../../core/policy.ts";
import { isAdjusted } from "./adjustments.ts";
import { changesLogits, type Choosing } from "../transformer/choose.ts";
import type { Penalised } from "../transformer/penalties.ts";

export interface Filters {
  readonly temperature: number;
  /** 0: off. */
  readonly top_k: number;
  /** 1: off. */
  readonly top_p: number;
  /** 0: off. */
  readonly min_p: number;
}

export const filtersOf = ({ temperature, top_k, top_p, min_p }: DecodeOptions): Filters => ({
  temperature,
  top_k: top_k ?? 0,
  top_p: top_p ?? 1,
  min_p: min_p ?? 0,
});

/** See `DecodeOptions`. */
export interface Penalties {
  /** 1: off. */
  readonly repetition: number;
  /** 0: off. */
  readonly presence: number;
  /** 0: off. */
  readonly frequency: number;
}
export const penaltiesOf = (decode: DecodeOptions): Penalties => ({
  repetition: decode.repetition_penalty ?? 1,
  presence: decode.presence_penalty ?? 0,
  frequency: decode.frequency_penalty ?? 0,
});
const penalisedBy = ({ repetition, presence, frequency }: Penalties): Penalised => ({
  seen: repetition !== 1,
  counts: presence !== 0 || frequency !== 0,
});

const problems: readonly (readonly [(decode: DecodeOptions) => boolean, string, string])[] = [
  [({ temperature }) => temperature >= 0, "temperature", "Give a number ≥ 0; 0 is greedy."],
  [({ max_tokens }) => max_tokens >= 1, "max_tokens", "Ask for at least 1 token."],
  [({ top_k = 0 }) => Number.isInteger(top_k) && top_k >= 0, "top_k", "Give a whole number; 0 is off."],
  [({ top_p = 1 }) => top_p > 0 && top_p <= 1, "top_p", "Give a number above 0, up to 1; 1 is off."],
  [({ min_p = 0 }) => min_p >= 0 && min_p <= 1, "min_p", "Give a number from 0 to 1; 0 is off."],
  [({ min_tokens = 0 }) => min_tokens >= 0, "min_tokens", "Give a number ≥ 0; 0 is off."],
  [
    ({ repetition_penalty: by = 1 }) => by > 0 && Number.isFinite(by),
    "repetition_penalty",
    "Give a number above 0; 1 is off.",
  ],
  [
    ({ presence_penalty: by = 0 }) => Number.isFinite(by),
    "presence_penalty",
    "Give a finite number; 0 is off.",
  ],
  [
    ({ frequency_penalty: by = 0 }) => Number.isFinite(by),
    "frequency_penalty",
    "Give a finite number; 0 is off.",
  ],
  [({ perturb }) => Number.isFinite(perturb?.beta ?? 0), "perturb", "Give a finite `beta`."],
  [({ lanes = 1 }) => lanes >= 1, "lanes", "Generate at least one response at once."],
];
/** @throws UserError naming an option that makes no sense and what it may be. */
export function checkDecodeOptions(decode: DecodeOptions): void {
  for (const [holds, name, action] of problems) {
    if (holds(decode)) continue;
    const value = Object.entries(decode).find(([key]) => key === name)?.[1];
    throw new UserError(`${name} is ${String(value)}.`, { code: name.replaceAll("_", "-"), action });
  }
}
/** @throws UserError where a prompt's own temperature makes no sense */
export const checkTemperature = (temperature: number): void =>
  checkDecodeOptions({ temperature, max_tokens: 1, seed: 0 });

/** @param varied prompts have temperatures of their own */
export function choosingOf(decode: DecodeOptions, varied = false): Choosing {
  const { temperature, top_k, top_p, min_p } = filtersOf(decode);
  const adjusted = isAdjusted(decode);
  const perturbed = decode.perturb?.heads ?? [];
  const scheduled = varied || decode.temperature_at !== undefined;
  const penalised = penalisedBy(penaltiesOf(decode));
  if (temperature === 0 && !scheduled)
    return { draw: "greedy", top: "none", floor: false, perturbed, adjusted, penalised };
  const top = top_k > 0 ? "count" : top_p < 1 ? "mass" : "none";
  const floor = min_p > 0;
  const own = !changesLogits({ perturbed, adjusted, penalised });
  const plain = temperature === 1 && !scheduled && own && top === "none" && !floor;
  return { draw: plain ? "unit" : "tempered", top, floor, perturbed, adjusted, penalised };
}
