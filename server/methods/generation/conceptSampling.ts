/**
 * Concepts of one task, drawn together (SwS, and its released sampler): the first as often as it is named, each further one
 * by how often tasks name it together with those drawn, and by how near its vector is to the mean of theirs.
 */
import type { Random } from "../../lib/random.ts";
import { proportional, softmax } from "./drawing.ts";
import { cosineWithSum, type Vectors } from "./similarity.ts";

/** The concepts that the tasks of a kind name. */
export class ConceptTable {
  readonly names: readonly string[];
  /** Tasks that name each. */
  private readonly counts: readonly number[];
  /** Tasks that name two together, by both. */
  private readonly together: readonly ReadonlyMap<number, number>[];

  /** @param lists each task's concepts */
  constructor(lists: readonly (readonly string[])[]) {
    const places = new Map<string, number>();
    const counts: number[] = [];
    const together: Map<number, number>[] = [];
    for (const list of lists) {
      const own = [...new Set(list)].map((name) => {
        const at = places.get(name) ?? places.size;
        places.set(name, at);
        counts[at] = (counts[at] ?? 0) + 1;
        together[at] ??= new Map<number, number>();
        return at;
      });
      for (const one of own) for (const other of own) if (one !== other) count(together[one]!, other);
    }
    [this.names, this.counts, this.together] = [[...places.keys()], counts, together];
  }

  /** A concept's score given those drawn: Σ tasks that name both + the cosine with their mean. */
  score(drawn: readonly number[], one: number, vectors: Vectors): number {
    const both = drawn.reduce((sum, other) => sum + (this.together[one]!.get(other) ?? 0), 0);
    return both + cosineWithSum(vectors, drawn, one);
  }

  /** @returns up to `size` different concepts; fewer where there are no more */
  draw(size: number, temperature: number, vectors: Vectors, random: Random): string[] {
    const drawn: number[] = [];
    const open = new Set(this.names.keys());
    while (drawn.length < size && open.size > 0) {
      const left = [...open];
      const weights =
        drawn.length === 0
          ? left.map((one) => this.counts[one]!)
          : softmax(
              left.map((one) => this.score(drawn, one, vectors)),
              temperature,
            );
      const next = left[proportional(weights, random)]!;
      drawn.push(next);
      open.delete(next);
    }
    return drawn.map((one) => this.names[one]!);
  }
}

const count = (counts: Map<number, number>, key: number): unknown =>
  counts.set(key, (counts.get(key) ?? 0) + 1);
