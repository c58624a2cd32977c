/** Choosing a token from filtered logits, on this side of the wire: top-k, then nucleus, then min-p. */

export interface Filters {
  readonly temperature: number;
  /** 0: off. */
  readonly top_k: number;
  /** 1: off. */
  readonly top_p: number;
  /** 0: off. */
  readonly min_p: number;
}

export interface Chosen {
  readonly token: number;
  /** At T = 1, unfiltered. */
  readonly logp: number;
  /** Of the filtered distribution that was drawn from. */
  readonly logpSampled: number;
  /** At T = 1, unfiltered. */
  readonly entropy: number;
}

function logNormaliser(logits: Float32Array, scale: number): number {
  let most = -Infinity;
  for (const value of logits) most = Math.max(most, value * scale);
  let sum = 0;
  for (const value of logits) sum += Math.exp(value * scale - most);
  return most + Math.log(sum);
}

/** Token ids that survive, most likely first. `tempered[i]` is the log-probability after the temperature. */
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

/** Draws by inverse CDF over the survivors in order of their ids, with one uniform number. */
export function chooseFiltered(logits: Float32Array, filters: Filters, uniform: number): Chosen {
  const norm = logNormaliser(logits, 1);
  let entropy = 0;
  for (const value of logits) {
    const p = Math.exp(value - norm);
    if (p > 0) entropy -= p * (value - norm);
  }
  const scale = 1 / filters.temperature;
  const temperedNorm = logNormaliser(logits, scale);
  const tempered = Float64Array.from(logits, (value) => value * scale - temperedNorm);
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
