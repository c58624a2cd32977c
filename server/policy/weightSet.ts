/** Sets of weights on the device, with the folded matrices that programs use. A set may have several owners. */
import { readEvery, type OpenWeights } from "./formats/model.ts";
import { foldStreamed, readFrozen, uploadAll } from "./loading.ts";
import { frozenNames, mergedNames } from "./parts.ts";
import type { Programs } from "./programs.ts";
import { floats, freeAll, prefixed, take, type DeviceTensor, type Tensors } from "./runtime.ts";

/** The frozen decoder under an adapter: folded once, shared by every set of adapters over it. */
export class BaseWeights {
  private owners = 1;
  readonly folded: Tensors;
  /** The vectors that folding adapters and heads reads. */
  readonly frozen: Tensors;
  constructor(programs: Programs, open: OpenWeights) {
    this.folded = foldStreamed(programs, open);
    this.frozen = readFrozen(programs, open, frozenNames(programs.parts));
  }
  share(): this {
    this.owners += 1;
    return this;
  }
  close(): void {
    this.owners -= 1;
    if (this.owners > 0) return;
    freeAll(this.folded);
    freeAll(this.frozen);
  }
}

export class WeightSet {
  private owners = 1;
  private own: Record<string, DeviceTensor> | undefined;
  private all: Tensors | undefined;
  /**
   * @param given all that trains, taken over; or where it is read from: the set then begins with the folded matrices
   * alone, and all that trains is read once more when somebody asks for it.
   * @param base what an adapter stands on; the set becomes an owner.
   * @param untouched the adapter adds nothing yet: the base's own matrices serve, and none are merged.
   */
  constructor(
    private readonly programs: Programs,
    given: Tensors | OpenWeights,
    readonly base?: BaseWeights,
    private readonly untouched = false,
  ) {
    base?.share();
    if (typeof given === "function") {
      this.open = given;
      this.own = foldStreamed(programs, given);
    } else this.all = given;
  }
  private readonly open: OpenWeights | undefined;

  /** All that trains. */
  get tensors(): Tensors {
    if (this.all === undefined) {
      if (this.open === undefined) throw new Error("internal: a set of weights without any");
      this.all = uploadAll(this.programs, this.open);
    }
    return this.all;
  }
  /** Values of all that trains. */
  read(): Record<string, Float32Array> {
    if (this.all === undefined && this.open !== undefined) return readEvery(this.programs.shape, this.open);
    return Object.fromEntries(Object.entries(this.tensors).map(([name, tensor]) => [name, floats(tensor)]));
  }
  /** Reads all that trains where that was not needed until now; what is folded of it then shares its memory. */
  train(): void {
    if (this.all !== undefined) return;
    freeAll(this.own ?? {});
    this.own = undefined;
    this.all = this.tensors;
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
  /** Feeds `w/…` of the programs. Made when they are first asked for: the former set is gone by then. */
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
    freeAll(this.all ?? {});
    freeAll(this.own ?? {});
    this.base?.close();
  }
}
