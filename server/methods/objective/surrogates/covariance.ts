/** Covariance of advantage and log-prob, token by token: where it is large, entropy falls fastest. */
import type { ObjectiveInput } from "../../../core/loss.ts";
import { column } from "../column.ts";

export interface Covariance {
  /** (A − mean A) (log π − mean log π) of a token; means over tokens that train. */
  at(token: number): number;
  /** Tokens that train. */
  readonly trained: number;
}

export function covarianceOf({ now, advantages, weights }: ObjectiveInput): Covariance {
  const logp = column(now, "logp", "the objective");
  let trained = 0;
  let advantage = 0;
  let mean = 0;
  for (let i = 0; i < weights.length; i++) {
    if (weights[i] === 0) continue;
    trained += 1;
    advantage += advantages[i]!;
    mean += logp[i]!;
  }
  advantage /= trained;
  mean /= trained;
  return { trained, at: (i) => (advantages[i]! - advantage) * (logp[i]! - mean) };
}

/** How many tokens a share is: rounded down, at least one. */
export const shareOf = (share: number, trained: number): number => Math.max(1, Math.floor(share * trained));

/** The `count` tokens of non-zero weight with the largest values, in no order; of equal ones the first. */
export function largest(count: number, weights: Float64Array, value: (token: number) => number): number[] {
  // A heap with the smallest of the kept ones on top.
  const kept: { readonly token: number; readonly value: number }[] = [];
  const sink = (): void => {
    for (let at = 0; ;) {
      let least = at;
      for (const below of [2 * at + 1, 2 * at + 2])
        if (below < kept.length && kept[below]!.value < kept[least]!.value) least = below;
      if (least === at) return;
      [kept[at], kept[least]] = [kept[least]!, kept[at]!];
      at = least;
    }
  };
  for (let token = 0; token < weights.length; token++) {
    if (weights[token] === 0) continue;
    const own = value(token);
    if (kept.length < count) {
      kept.push({ token, value: own });
      if (kept.length === count) kept.sort((a, b) => a.value - b.value);
    } else if (own > kept[0]!.value) {
      kept[0] = { token, value: own };
      sink();
    }
  }
  return kept.map(({ token }) => token);
}
