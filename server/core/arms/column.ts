/** A number by arm, growing with the arms: eight bytes each. */
import type { Saved } from "../basics.ts";

export class Column {
  private held = new Float64Array(0);

  /** @param fill what an arm has that nobody has written of */
  constructor(private readonly fill: number) {}

  /** Room for arms 0 … size − 1. It doubles, so that arms may appear one at a time. */
  grow(size: number): void {
    const before = this.held.length;
    if (size <= before) return;
    const larger = new Float64Array(before === 0 ? size : Math.max(size, 2 * before)).fill(this.fill, before);
    larger.set(this.held);
    this.held = larger;
  }
  get(arm: number): number {
    return this.held[arm] ?? this.fill;
  }
  set(arm: number, value: number): void {
    this.grow(arm + 1);
    this.held[arm] = value;
  }
  add(arm: number, value: number): void {
    this.set(arm, this.get(arm) + value);
  }
  /** The first `size`, as they stand: a view. */
  view(size: number): Float64Array {
    this.grow(size);
    return this.held.subarray(0, size);
  }

  /** For `Saved.arrays`: as it stands, not a copy, where only `observe` changes it. */
  save(): Float64Array {
    return this.held;
  }
  /** For `Saved.arrays`, where a draw or a probe changes it: a step that is given up in between goes back to what was saved. */
  saveCopy(): Float64Array {
    return this.held.slice();
  }
  load(saved: NonNullable<Saved["arrays"]>[string] | undefined): void {
    if (saved !== this.held) this.held = Float64Array.from(saved ?? []);
  }
}
