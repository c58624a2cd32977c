/** Sampling stated plainly for one row: the definition that the engine's programs are held to. */
import type { Filters, Penalties } from "../../../server/engine/generation/sampling.ts";
import type { Chosen } from "../../../server/engine/generation/written.ts";

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
/** A logit after the penalties: first repetition, as transformers has it, then the two that count. */
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
 * Draws by inverse CDF over the survivors in order of their ids, with one
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
