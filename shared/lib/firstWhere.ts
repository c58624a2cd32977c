/**
 * The first of the numbers 0 … size − 1 for which a condition holds; `size` where it holds for none. The condition has to
 * hold for every number after one for which it does: it is asked about log₂ size of them.
 * @param size at most 2³¹
 */
export function firstWhere(size: number, holds: (at: number) => boolean): number {
  let [low, high] = [0, size];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
