/** What is drawn from, as the options of decoding say it, and the same stated plainly for one row. */
import { UserError } from "../../../shared/errors.ts";
import type { DecodeOptions } from "../../core/policy.ts";
import { isAdjusted } from "./adjustments.ts";
import { changesLogits, type Choosing } from "../transformer/choose.ts";
import type { Penalised } from "../transformer/penalties.ts";
import type { Chosen } from "./written.ts";

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
  [({ lanes = 1 }) => lanes >= 1, "lanes", "Write at least one response at once."],
];
/** @throws UserError naming an option that makes no sense and what it may be. */
export function checkDecodeOptions(decode: DecodeOptions): void {
  for (const [holds, name, action] of problems) {
    if (holds(decode)) continue;
    const value = Object.entries(decode).find(([key]) => key === name)?.[1];
    throw new UserError(`${name} is ${String(value)}.`, { code: name.replaceAll("_", "-"), action });
  }
}

export function choosingOf(decode: DecodeOptions): Choosing {
  const { temperature, top_k, top_p, min_p } = filtersOf(decode);
  const adjusted = isAdjusted(decode);
  const perturbed = decode.perturb?.heads ?? [];
  const scheduled = decode.temperature_at !== undefined;
  const penalised = penalisedBy(penaltiesOf(decode));
  if (temperature === 0 && !scheduled)
    return { draw: "greedy", top: "none", floor: false, perturbed, adjusted, penalised };
  const top = top_k > 0 ? "count" : top_p < 1 ? "mass" : "none";
  const floor = min_p > 0;
  const own = !changesLogits({ perturbed, adjusted, penalised });
  const plain = temperature === 1 && !scheduled && own && top === "none" && !floor;
  return { draw: plain ? "unit" : "tempered", top, floor, perturbed, adjusted, penalised };
}

function logNormaliser(logits: ArrayLike<number>, scale: number): number {
  let most = -Infinity;
  for (let i = 0; i < logits.length; i++) most = Math.max(most, logits[i]! * scale);
  let sum = 0;
  for (let i = 0; i < logits.length; i++) sum += Math.exp(logits[i]! * scale - most);
  return most + Math.log(sum);
}

/** Token ids that survive, most likely first: top-k, then nucleus, then min-p. `tempered[i]` is log p(i) after the temperature. */
function surviving(tempered: Float64Array, { top_k, top_p, min_p }: Filters): number[] {
  const order = Array.from(tempered.keys()).sort((a, b) => tempered[b]! - tempered[a]! || a - b);
  const few = top_k > 0 ? order.slice(0, top_k) : order;
  const mass = few.reduce((sum, id) => sum + Math.exp(tempered[id]!), 0);
  const nucleus: number[] = [];
  let before = 0;
  for (const id of few) {
    // A token stays while the mass in front of it is short of top_p, so at least one does (Holtzman et al.).
    if (nucleus.length > 0 && before >= top_p * mass) break;
    nucleus.push(id);
    before += Math.exp(tempered[id]!);
  }
  const floor = Math.log(min_p) + tempered[nucleus[0]!]!;
  return min_p > 0 ? nucleus.filter((id, index) => index === 0 || tempered[id]! >= floor) : nucleus;
}

/** What a lane has of each token: how often in the response, and whether in prompt or response. */
export interface Tally {
  readonly seen: ReadonlySet<number>;
  readonly counts: ReadonlyMap<number, number>;
}
/** A logit behind the penalties: first repetition, as transformers has it, then the two that count. */
function penalised(
  logit: number,
  token: number,
  { repetition, presence, frequency }: Penalties,
  tally: Tally,
): number {
  const count = tally.counts.get(token) ?? 0;
  const times = logit > 0 ? logit / repetition : logit * repetition;
  return (tally.seen.has(token) ? times : logit) - frequency * count - (count > 0 ? presence : 0);
}

/**
 * The definition that the programs are held to. Draws by inverse CDF over the survivors in order of their ids, with one
 * uniform number. `adjustment` is added to the logits that are drawn from, then come the penalties; `logp` and `entropy` are of the logits
 * themselves.
 */
export function chooseFiltered(
  logits: Float32Array,
  filters: Filters,
  uniform: number,
  adjustment?: ArrayLike<number>,
  penalties?: { readonly by: Penalties; readonly tally: Tally },
): Chosen {
  const norm = logNormaliser(logits, 1);
  let entropy = 0;
  for (const value of logits) {
    const p = Math.exp(value - norm);
    if (p > 0) entropy -= p * (value - norm);
  }
  const shown = Float64Array.from(logits, (value, token) => {
    const added = value + (adjustment?.[token] ?? 0);
    return penalties === undefined ? added : penalised(added, token, penalties.by, penalties.tally);
  });
  const scale = 1 / filters.temperature;
  const temperedNorm = logNormaliser(shown, scale);
  const tempered = shown.map((value) => value * scale - temperedNorm);
  const kept = surviving(tempered, filters).sort((a, b) => a - b);
  const mass = kept.reduce((sum, id) => sum + Math.exp(tempered[id]!), 0);
  let reached = 0;
  let token = kept[kept.length - 1]!;
  for (const id of kept) {
    reached += Math.exp(tempered[id]!);
    if (reached > uniform * mass) {
      token = id;
      break;
    }
  }
  return { token, logp: logits[token]! - norm, logpSampled: tempered[token]! - Math.log(mass), entropy };
}
