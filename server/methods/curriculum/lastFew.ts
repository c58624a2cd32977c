/**
 * The last few numbers of each arm, in ring buffers of one typed array. An arm without numbers costs four bytes, one with
 * numbers eight bytes for each that is kept.
 */
import type { Saved } from "../../core/basics.ts";
import { listsByArm } from "../../core/saved.ts";

const nothing = new Float64Array(0);

export class LastFew {
  /** The ring of each arm, from 1 in the order of the first number; 0: none yet. */
  private ringOf = new Int32Array(0);
  private rings = 0;
  private values = new Float64Array(0);
  /** Numbers pushed to each ring. */
  private pushed = new Int32Array(0);

  /** @param size numbers kept per arm, at least 1 */
  constructor(private readonly size: number) {}

  push(arm: number, value: number): void {
    const ring = this.ringFor(arm);
    const pushed = this.pushed[ring]!;
    this.values[ring * this.size + (pushed % this.size)] = value;
    // After the first round only the position matters, so the count stays below 2 · size.
    this.pushed[ring] = pushed + 1 < 2 * this.size ? pushed + 1 : this.size;
  }

  /** The numbers of an arm, the oldest first. */
  of(arm: number): Float64Array {
    const ring = (this.ringOf[arm] ?? 0) - 1;
    return ring < 0 ? nothing : this.inOrder(ring);
  }

  private inOrder(ring: number): Float64Array {
    const { size, values } = this;
    const pushed = this.pushed[ring]!;
    const from = ring * size;
    if (pushed < size) return values.slice(from, from + pushed);
    const oldest = pushed % size;
    const found = new Float64Array(size);
    found.set(values.subarray(from + oldest, from + size));
    found.set(values.subarray(from, from + oldest), size - oldest);
    return found;
  }

  private ringFor(arm: number): number {
    if (arm >= this.ringOf.length)
      this.ringOf = longer(this.ringOf, new Int32Array(Math.max(arm + 1, 2 * this.ringOf.length)));
    if (this.ringOf[arm]! > 0) return this.ringOf[arm]! - 1;
    const ring = this.rings++;
    this.ringOf[arm] = this.rings;
    if (ring >= this.pushed.length) {
      const room = Math.max(16, 2 * ring);
      this.pushed = longer(this.pushed, new Int32Array(room));
      this.values = longer(this.values, new Float64Array(room * this.size));
    }
    return ring;
  }

  /** Saves the arms with numbers, their counts, and the numbers, oldest first. */
  save(): Saved {
    const arms = new Int32Array(this.rings);
    for (let arm = 0; arm < this.ringOf.length; arm++)
      if (this.ringOf[arm]! > 0) arms[this.ringOf[arm]! - 1] = arm;
    const counts = Int32Array.from(arms, (_, ring) => Math.min(this.size, this.pushed[ring]!));
    const values = new Float64Array(counts.reduce((sum, count) => sum + count, 0));
    let at = 0;
    for (let ring = 0; ring < this.rings; ring++) {
      values.set(this.inOrder(ring), at);
      at += counts[ring]!;
    }
    return { json: null, arrays: { arms, counts, values } };
  }

  /** Also reads lists by arm, which earlier versions saved. */
  load({ json, arrays }: Saved): void {
    this.ringOf = new Int32Array(0);
    this.pushed = new Int32Array(0);
    this.values = new Float64Array(0);
    this.rings = 0;
    for (const [arm, values] of listsByArm(json)) for (const value of values) this.push(arm, value);
    const [arms, counts, values] = [
      arrays?.["arms"] ?? [],
      arrays?.["counts"] ?? [],
      arrays?.["values"] ?? [],
    ];
    let at = 0;
    for (let i = 0; i < arms.length; i++)
      for (const end = at + (counts[i] ?? 0); at < end; at++) this.push(arms[i]!, values[at] ?? Number.NaN);
  }
}

/** Copies an array into a longer one. */
function longer<Array extends Int32Array | Float64Array>(before: Array, after: Array): Array {
  after.set(before);
  return after;
}
