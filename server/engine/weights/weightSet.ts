/** Sets of weights on the device, with the folded matrices that programs use. A set may have several owners. */
import { lazyWeights, readEvery, reading, type OpenWeights, type Weights } from "../formats/model.ts";
import { foldStreamed, readFrozen, uploadAll } from "./loading.ts";
import { frozenNames, mergedNames } from "../parts.ts";
import type { Programs } from "../passes/programs.ts";
import { take } from "../../core/ops.ts";
import { floats, freeAll, prefixed, type DeviceTensor, type Tensors } from "../devices/runtime.ts";

/** The frozen decoder under an adapter: folded once, shared by every set of adapters over it. */
export class BaseWeights {
  private owners = 1;
  readonly folded: Tensors;
  /** The vectors that folding adapters and heads reads. */
  readonly frozen: Tensors;
  constructor(
    programs: Programs,
    readonly open: OpenWeights,
  ) {
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
  private merged: Record<string, DeviceTensor> | undefined;
  private feeds: { folded?: Tensors; unmerged?: Tensors } = {};
  private all: Tensors | undefined;
  /**
   * @param given all that trains, taken over; or where it is read from: the set then begins with the folded matrices
   * alone, and all that trains is read once more when somebody asks for it.
   * @param base an adapter's base; the set becomes an owner.
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
    if (!programs.lean) this.feeds.folded = this.made();
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
  /** The same, each read when it is looked at; from files all at once, since these may be about to be replaced. */
  get values(): Weights {
    if (this.all === undefined) return this.read();
    const tensors = this.all;
    return lazyWeights(Object.keys(tensors), (name) => floats(take(tensors, name)));
  }
  /** Values of all that trains. */
  read(): Record<string, Float32Array> {
    if (this.all === undefined && this.open !== undefined) return readEvery(this.programs.shape, this.open);
    return Object.fromEntries(Object.entries(this.tensors).map(([name, tensor]) => [name, floats(tensor)]));
  }
  /** One vector of the decoder, where it lies. */
  vector(name: string): Float32Array {
    const tensor = this.all?.[name] ?? this.base?.frozen[name];
    if (tensor !== undefined) return floats(tensor);
    const open = this.base?.open ?? this.open;
    return open === undefined ? take(this.values, name) : reading(open, (read) => read(name));
  }
  /** Reads all that trains where that was not needed until now; what is folded of it then shares its memory. */
  train(): void {
    if (this.all !== undefined) return;
    freeAll(this.own ?? {});
    this.own = undefined;
    this.feeds = {};
    this.all = this.tensors;
  }
  /** Of what trains; under an adapter A and B, which are small. */
  private get foldedParts(): Tensors {
    return (this.own ??= this.programs.foldParts().run(this.trained));
  }
  /** Sums of base and adapter. */
  private get mergedParts(): Tensors {
    if (this.base === undefined || this.untouched) return {};
    if (this.merged !== undefined) return this.merged;
    const { folded } = this.base;
    const parts = this.foldedParts;
    const merged: Record<string, DeviceTensor> = {};
    try {
      for (const name of mergedNames(this.programs.parts)) {
        const [A, B] = [take(parts, `${name}.A`), take(parts, `${name}.B`)];
        merged[name] = take(this.programs.merge().run({ base: take(folded, name), A, B }), "merged");
      }
    } catch (error) {
      freeAll(merged);
      throw error;
    }
    return (this.merged = merged);
  }
  /** What the optimiser's programs read: all that trains, and the frozen vectors. */
  get trained(): Tensors {
    return { ...this.tensors, ...this.base?.frozen };
  }
  /** One more owner of the same values: a snapshot costs nothing, since they are never written to. */
  share(): this {
    this.owners += 1;
    return this;
  }
  /** Feeds `w/…` of the programs. Made when they are first asked for: the former set is gone by then. */
  get folded(): Tensors {
    return (this.feeds.folded ??= this.made());
  }
  private made(): Tensors {
    return prefixed("w/", { ...this.base?.folded, ...this.foldedParts, ...this.mergedParts });
  }
  /** The same with the base's own matrices in addition to A and B. */
  get unmerged(): Tensors {
    return (this.feeds.unmerged ??= prefixed("w/", { ...this.base?.folded, ...this.foldedParts }));
  }
  /** Whether `folded` would have to merge. */
  get merging(): boolean {
    return this.base !== undefined && !this.untouched && this.merged === undefined;
  }
  /** Lets go of the merged matrices of an adapter until they are asked for again; not while another owner may use them. */
  releaseMerged(): void {
    if (this.owners > 1 || this.merged === undefined) return;
    freeAll(this.merged);
    this.merged = undefined;
    this.feeds = {};
  }
  /** Frees the values when the last owner lets go. */
  close(): void {
    this.owners -= 1;
    if (this.owners > 0) return;
    freeAll(this.all ?? {});
    freeAll(this.own ?? {});
    freeAll(this.merged ?? {});
    this.base?.close();
  }

  /** A new set: decay · this + (1 − decay) · `other`. */
  towards(other: WeightSet, decay: number): WeightSet {
    const factor = this.programs.runtime.upload(Float32Array.of(decay), []);
    const feeds = { ...prefixed("a/", this.tensors), ...prefixed("w/", other.tensors), decay: factor };
    const mixed = this.programs.average().run(feeds);
    factor.free();
    return new WeightSet(this.programs, mixed, this.base);
  }
}
