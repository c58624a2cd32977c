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
export const ranked = (keys: Float64Array): Uint32Array<ArrayBuffer> => rankedBy([keys], keys.length);

/**
 * As `ranked`, by several keys: where the first are equal the second decide, and so on. A radix sort, from the least
 * digit of the last key on: linear, where a comparison of a million arms takes seconds.
 */
export function rankedBy(keys: readonly Float64Array[], size: number): Uint32Array<ArrayBuffer> {
  let order = new Uint32Array(size);
  let other = new Uint32Array(size);
  for (let at = 0; at < size; at++) order[at] = at;
  for (const key of [...keys].reverse()) {
    const words = sortable(key, size);
    for (const word of [0, 1])
      for (const shift of [0, 11, 22])
        if (byDigit(words, word, shift, order, other)) [order, other] = [other, order];
  }
  return order;
}

/** The bits of numbers, low word before high word, changed so that they rise as the numbers do: NaN above all, −0 as 0. */
function sortable(key: Float64Array, size: number): Uint32Array {
  const bits = new Float64Array(size);
  for (let at = 0; at < size; at++) bits[at] = key[at]! + 0;
  const words = new Uint32Array(bits.buffer);
  for (let at = 0; at < size; at++) {
    const high = words[2 * at + 1]!;
    const flip = high >>> 31 === 1 ? 0xffff_ffff : 0;
    const isNaN = Number.isNaN(key[at]!);
    words[2 * at] = isNaN ? 0xffff_ffff : words[2 * at]! ^ flip;
    words[2 * at + 1] = isNaN ? 0xffff_ffff : high ^ (flip | 0x8000_0000);
  }
  return words;
}

/** A pass over one digit of 11 bits, what is equal in it as it stood. @returns false: all have the same, and nothing was written */
function byDigit(
  words: Uint32Array,
  word: number,
  shift: number,
  from: Uint32Array,
  to: Uint32Array,
): boolean {
  const places = new Uint32Array(2048);
  for (let at = word; at < words.length; at += 2) places[(words[at]! >>> shift) & 2047]! += 1;
  if (from.length === 0 || places[(words[word]! >>> shift) & 2047] === from.length) return false;
  for (let digit = 0, place = 0; digit < places.length; digit++) {
    const count = places[digit]!;
    places[digit] = place;
    place += count;
  }
  for (const at of from) {
    const digit = (words[2 * at + word]! >>> shift) & 2047;
    to[places[digit]!] = at;
    places[digit]! += 1;
  }
  return true;
}
