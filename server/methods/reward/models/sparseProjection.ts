/** Random projections with few entries (Li, Hastie and Church, "Very sparse random projections"): distances stay, in the mean. */
import type { Random } from "../../../lib/random.ts";

/** A projection of vectors to `to` numbers: of each of the vectors' places, where it goes and by which factor. */
interface Projection {
  readonly to: number;
  readonly places: readonly (readonly { readonly at: number; readonly factor: number }[])[];
}

/** An entry is there with probability 1/√from, and is then ±from^¼ / √to. */
export function sparseProjection(from: number, to: number, random: Random): Projection {
  const density = 1 / Math.sqrt(from);
  const size = 1 / Math.sqrt(density * to);
  const place = (): { at: number; factor: number }[] => {
    const own: { at: number; factor: number }[] = [];
    for (let at = 0; at < to; at++)
      if (random.next() < density) own.push({ at, factor: random.next() < 0.5 ? size : -size });
    return own;
  };
  return { to, places: Array.from({ length: from }, place) };
}

export function projected({ to, places }: Projection, vector: ArrayLike<number>): Float64Array {
  const result = new Float64Array(to);
  places.forEach((own, i) => {
    for (const { at, factor } of own) result[at]! += factor * vector[i]!;
  });
  return result;
}
