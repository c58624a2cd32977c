/** One number per arm, eight bytes each; it grows with the arms. */
import type { Saved } from "../../core/basics.ts";

export class Column {
  private held = new Float64Array(0);

  /** @param fill the number of an arm that has not been set */
  constructor(private readonly fill: number) {}

  /** Makes room for arms 0 … size − 1. It at least doubles, so that adding arms one by one stays cheap. */
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
  /** A view of the first `size` numbers. */
  view(size: number): Float64Array {
    this.grow(size);
    return this.held.subarray(0, size);
  }

  /** For `Saved.arrays`, not copied: only where nothing but `observe` changes the column. */
  save(): Float64Array {
    return this.held;
  }
  /** For `Saved.arrays`, copied: where a draw or a probe changes the column, since an abandoned step returns to the saved state. */
  saveCopy(): Float64Array {
    return this.held.slice();
  }
  load(saved: NonNullable<Saved["arrays"]>[string] | undefined): void {
    if (saved !== this.held) this.held = Float64Array.from(saved ?? []);
  }
}
