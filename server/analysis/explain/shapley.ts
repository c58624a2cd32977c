/**
 * Exact Shapley values of a game with few players: the mean, over all orders in which the players may come, of what each
 * adds to those before it.
 */

/** Coalitions are counted one by one: 2¹² values of the game. */
export const mostPlayers = 12;

/**
 * φ_i = Σ over coalitions S without i of |S|! (n − 1 − |S|)! / n! · (v(S ∪ i) − v(S)).
 * @param value the game; bit i of a coalition says that player i is in it. Called once for every coalition
 * @returns the players' values, which sum to v(all) − v(none), and v(none)
 */
export function shapley(
  players: number,
  value: (coalition: number) => number,
): { readonly shares: Float64Array; readonly none: number } {
  if (players > mostPlayers) throw new RangeError(`${players} players have too many coalitions`);
  const game = Float64Array.from({ length: 1 << players }, (_, coalition) => value(coalition));
  const weights = weightsBySize(players);
  const shares = new Float64Array(players);
  for (let coalition = 0; coalition < game.length; coalition++) {
    const weight = weights[bits(coalition)]!;
    for (let player = 0; player < players; player++) {
      const joined = coalition | (1 << player);
      if (joined !== coalition) shares[player]! += weight * (game[joined]! - game[coalition]!);
    }
  }
  return { shares, none: game[0]! };
}

/** s! (n − 1 − s)! / n! for s = 0 … n − 1; the first is 1/n, and that of s + 1 is (s + 1) / (n − 1 − s) times that of s. */
function weightsBySize(players: number): Float64Array {
  const weights = new Float64Array(players + 1);
  let weight = 1 / players;
  for (let size = 0; size < players; size++) {
    weights[size] = weight;
    weight *= (size + 1) / (players - 1 - size);
  }
  return weights;
}

function bits(coalition: number): number {
  let count = 0;
  for (let rest = coalition; rest > 0; rest &= rest - 1) count++;
  return count;
}
