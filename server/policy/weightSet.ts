/** Sets of weights on the device, with the folded matrices that programs use. A set may have several owners. */
import { frozenNames, mergedNames } from "./parts.ts";
import type { Programs } from "./programs.ts";
import { freeAll, prefixed, take, type DeviceTensor, type Tensors } from "./runtime.ts";

/** The frozen decoder under an adapter: folded once, shared by every set of adapters over it. */
export class BaseWeights {
  private owners = 1;
  private readonly foldedTensors: Record<string, DeviceTensor>;
  /** The vectors that folding adapters and heads reads. */
  readonly frozen: Tensors;
  /** Takes over the tensors, and frees those that are not needed once folded. */
  constructor(programs: Programs, tensors: Tensors) {
    this.foldedTensors = programs.fold().run(tensors);
    const kept = frozenNames(programs.parts);
    this.frozen = Object.fromEntries(kept.map((name) => [name, take(tensors, name)]));
    for (const [name, tensor] of Object.entries(tensors)) if (!kept.includes(name)) tensor.free();
  }
  get folded(): Tensors {
    return this.foldedTensors;
  }
  share(): this {
    this.owners += 1;
    return this;
  }
  close(): void {
    this.owners -= 1;
    if (this.owners > 0) return;
    freeAll(this.foldedTensors);
    freeAll(this.frozen);
  }
}

export class WeightSet {
  private owners = 1;
  private own: Record<string, DeviceTensor> | undefined;
  /**
   * Takes over the tensors: all that trains. Under an adapter they stand on `base`, of which the set becomes an owner.
   * `untouched` says that the adapter adds nothing yet: the base's own matrices serve, and none are merged.
   */
  constructor(
    private readonly programs: Programs,
    readonly tensors: Tensors,
    readonly base?: BaseWeights,
    private readonly untouched = false,
  ) {
    base?.share();
    this.own = this.fold();
  }
  private fold(): Record<string, DeviceTensor> {
    const { base, programs } = this;
    if (base === undefined) return programs.foldParts().run(this.tensors);
    const merged = mergedNames(programs.parts);
    const folded = programs.foldParts().run({
      ...this.tensors,
      ...base.frozen,
      ...prefixed("base/", Object.fromEntries(merged.map((name) => [name, take(base.folded, name)]))),
    });
    if (!this.untouched) return folded;
    for (const name of merged) folded[name]?.free();
    return Object.fromEntries(Object.entries(folded).filter(([name]) => !merged.includes(name)));
  }
  /** What the optimiser's programs read: all that trains, and the frozen vectors. */
  get trained(): Tensors {
    return { ...this.tensors, ...this.base?.frozen };
  }
  /** One more owner of the same values: a snapshot costs nothing, since nobody writes to them. */
  share(): this {
    this.owners += 1;
    return this;
  }
  /** Feeds `w/…` of the programs. */
  get folded(): Tensors {
    this.own ??= this.fold();
    return prefixed("w/", { ...this.base?.folded, ...this.own });
  }
  /** The same with the base's own matrices beside A and B. */
  get unmerged(): Tensors {
    return { ...this.folded, ...prefixed("w/", this.base?.folded ?? {}) };
  }
  /** Lets go of the merged matrices of an adapter until they are asked for again; not while another owner may use them. */
  rest(): void {
    if (this.owners > 1 || this.base === undefined || this.untouched || this.own === undefined) return;
    freeAll(this.own);
    this.own = undefined;
  }
  /** Frees the values when the last owner lets go. */
  close(): void {
    this.owners -= 1;
    if (this.owners > 0) return;
    freeAll(this.tensors);
    freeAll(this.own ?? {});
    this.base?.close();
  }
}
