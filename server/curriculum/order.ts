/** The first few of very many in an order, without sorting them all. */

/**
 * The `n` numbers from 0 of smallest key, in that order; equal keys in the order of their numbers.
 * @param key NaN: left out
 */
export function smallest(size: number, n: number, key: (at: number) => number): number[] {
  const keys: number[] = [];
  const found: number[] = [];
  for (let at = 0; at < size && n > 0; at++) {
    const own = key(at);
    if (Number.isNaN(own) || (found.length === n && own >= keys[n - 1]!)) continue;
    const place = above(keys, own);
    keys.splice(place, 0, own);
    found.splice(place, 0, at);
    if (found.length > n) {
      keys.pop();
      found.pop();
    }
  }
  return found;
}

/** The first place whose key is larger. */
function above(keys: readonly number[], own: number): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! > own) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Numbers from 0 by key, smallest first; equal keys in the order of their numbers, NaN last. */
export function ranked(keys: Float64Array): Uint32Array {
  const order = Uint32Array.from(keys, (_, at) => at);
  return order.sort((a, b) => {
    const [first, second] = [keys[a]!, keys[b]!];
    if (Number.isNaN(first) || Number.isNaN(second))
      return Number(Number.isNaN(first)) - Number(Number.isNaN(second)) || a - b;
    return first - second || a - b;
  });
}
