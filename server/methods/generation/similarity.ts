/** How alike texts are: by their letters, or by a model's states of them. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { Embed, Measure } from "../../core/slots/generation.ts";

/** Texts as vectors of which only inner products are known. */
export interface Vectors {
  dot(one: number, other: number): number;
}

/** Counts of three characters in a row, case and blanks aside, as a vector of length 1. */
function profileOf(text: string): ReadonlyMap<string, number> {
  const letters = ` ${text.toLowerCase().replace(/\s+/g, " ").trim()} `;
  const counts = new Map<string, number>();
  for (let i = 0; i + 3 <= letters.length; i++) {
    const three = letters.slice(i, i + 3);
    counts.set(three, (counts.get(three) ?? 0) + 1);
  }
  const norm = Math.hypot(...counts.values());
  return new Map([...counts].map(([three, count]) => [three, count / norm]));
}

function product(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const [three, count] of one) sum += count * (other.get(three) ?? 0);
  return sum;
}

/** By letters: 0 is nothing in common, 1 the same counts. */
export const similarity = (one: string, other: string): number => product(profileOf(one), profileOf(other));

/** Profiles are made when they are first asked for. */
function letters(texts: readonly string[]): Vectors {
  const profiles: ReadonlyMap<string, number>[] = [];
  const of = (i: number): ReadonlyMap<string, number> => (profiles[i] ??= profileOf(texts[i]!));
  return { dot: (one, other) => product(of(one), of(other)) };
}

function states(vectors: readonly Float32Array[]): Vectors {
  return {
    dot: (one, other) => {
      const [a, b] = [vectors[one]!, vectors[other]!];
      let sum = 0;
      for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
      return sum;
    },
  };
}

/** @throws UserError if a model's states are not finite */
export async function vectorsOf(texts: readonly string[], measure: Measure, embed: Embed): Promise<Vectors> {
  if (measure.by === "letters") return letters(texts);
  const vectors = await embed(texts, measure);
  if (vectors.every((vector) => vector.every(Number.isFinite))) return states(vectors);
  throw new UserError(
    `texts are compared by the hidden states of ${measure.model}, and these are not finite.`,
    {
      code: "embedding-overflow",
      action: "Resume from an earlier checkpoint, lower the learning rate, or set `by: letters`.",
    },
  );
}

/** Cosine of a vector with the sum of some; 0 where one of them has no length. */
export function cosineWithSum({ dot }: Vectors, some: readonly number[], one: number): number {
  let [with_sum, sum] = [0, 0];
  for (const a of some) {
    with_sum += dot(a, one);
    for (const b of some) sum += dot(a, b);
  }
  const lengths = Math.sqrt(sum * dot(one, one));
  return lengths > 0 ? with_sum / lengths : 0;
}
