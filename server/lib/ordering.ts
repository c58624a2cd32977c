/** The first few of very many in an order, without sorting them all. */
import { firstWhere } from "../../shared/lib/firstWhere.ts";

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
    const place = firstWhere(keys.length, (before) => keys[before]! > own);
    keys.splice(place, 0, own);
    found.splice(place, 0, at);
    if (found.length > n) {
      keys.pop();
      found.pop();
    }
  }
  return found;
}

/** The last place of numbers that rise at which there is no more than a value; 0 of none. */
export const lastAtMost = (rising: ArrayLike<number>, value: number): number =>
  firstWhere(rising.length - 1, (before) => rising[before + 1]! > value);

/** Numbers from 0 by key, smallest first; equal keys in the order of their numbers, NaN last. */
export const ranked = (keys: Float64Array): Uint32Array<ArrayBuffer> => rankedBy([keys], keys.length);

/**
 * As `ranked`, by several keys: where the first are equal the second decide, and so on. A radix sort, from the least
 * digit of the last key on: linear, where a comparison of a million arms takes seconds.
 */
export function rankedBy(keys: readonly Float64Array[], size: number): Uint32Array<ArrayBuffer> {
  let order = new Uint32Array(size);
  for (let at = 0; at < size; at++) order[at] = at;
  for (const key of [...keys].reverse()) order = sortedBy(key, order);
  return order;
}

/** Numbers with the words of their keys, which move together: what is read together is stored together. */
interface Keyed {
  readonly order: Uint32Array<ArrayBuffer>;
  readonly low: Uint32Array;
  readonly high: Uint32Array;
}

const keyed = (size: number): Keyed => ({
  order: new Uint32Array(size),
  low: new Uint32Array(size),
  high: new Uint32Array(size),
});

/** Numbers by a key, those of equal keys in their original order. */
function sortedBy(key: Float64Array, order: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  if (allAlike(key, order.length)) return order;
  let from = sortable(key, order);
  let to = keyed(order.length);
  for (const word of ["low", "high"] as const)
    for (const shift of [0, 11, 22]) if (byDigit(from, word, shift, to)) [from, to] = [to, from];
  return from.order;
}

/** Most keys are alike for all, as long as nothing is known. */
function allAlike(key: Float64Array, size: number): boolean {
  const first = key[0];
  let at = 1;
  while (at < size && Object.is(key[at], first)) at++;
  return at >= size;
}

/** The bits of numbers in an order, changed so that they rise as the numbers do: NaN above all, −0 as 0. */
function sortable(key: Float64Array, order: Uint32Array): Keyed {
  const found = keyed(order.length);
  const number = new Float64Array(1);
  const words = new Uint32Array(number.buffer);
  for (let place = 0; place < order.length; place++) {
    const at = order[place]!;
    number[0] = key[at]! + 0;
    const high = words[1]!;
    const flip = high >>> 31 === 1 ? 0xffff_ffff : 0;
    const isNaN = number[0] !== number[0];
    found.order[place] = at;
    found.low[place] = isNaN ? 0xffff_ffff : words[0]! ^ flip;
    found.high[place] = isNaN ? 0xffff_ffff : high ^ (flip | 0x8000_0000);
  }
  return found;
}

/** A pass over one digit of 11 bits, what is equal in it in its original order. @returns false: all have the same, and nothing was written */
function byDigit(from: Keyed, word: "low" | "high", shift: number, to: Keyed): boolean {
  const digits = from[word];
  const places = new Uint32Array(2048);
  for (let at = 0; at < digits.length; at++) places[(digits[at]! >>> shift) & 2047]! += 1;
  if (digits.length === 0 || places[(digits[0]! >>> shift) & 2047] === digits.length) return false;
  for (let digit = 0, place = 0; digit < places.length; digit++) {
    const count = places[digit]!;
    places[digit] = place;
    place += count;
  }
  // Once sorted by the low word, it is not needed again.
  const needsLow = word === "low";
  for (let at = 0; at < digits.length; at++) {
    const digit = (digits[at]! >>> shift) & 2047;
    const place = places[digit]!;
    places[digit] = place + 1;
    to.order[place] = from.order[at]!;
    to.high[place] = from.high[at]!;
    if (needsLow) to.low[place] = from.low[at]!;
  }
  return true;
}
