/** A policy's weights on the device: those it has now, and snapshots of earlier ones. */
import type { Model } from "../../core/basics.ts";
import { take, type Named } from "../../core/ops.ts";
import type { Tensors } from "../devices/runtime.ts";
import { mergedReader } from "../formats/index.ts";
import { readEvery, type OpenWeights, type WeightReader } from "../formats/model.ts";
import { headShapes, initialParts, trainedShapes, type Parts } from "../parts.ts";
import type { Programs } from "../passes/programs.ts";
import { unknownModel, type PolicySetup } from "../policySetup.ts";
import { checkSizes } from "../sharing.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { uploadAll, uploadValues } from "./loading.ts";
import { BaseWeights, WeightSet } from "./weightSet.ts";

type Values = Named<Float32Array | Float64Array>;

const isZero = (values: Float32Array | Float64Array): boolean => values.every((value) => value === 0);

export class PolicyWeights {
  /** Counts the updates of the present weights. */
  version = 0;
  private readonly parts: Parts;
  private readonly base: BaseWeights | undefined;
  private readonly snapshots = new Map<Model, WeightSet>();
  private present: WeightSet;

  /** @param checkpoint what to begin with; undefined: the weights that the setup opens or draws */
  constructor(
    private readonly setup: PolicySetup,
    private readonly programs: Programs,
    checkpoint: Checkpoint | undefined,
  ) {
    this.parts = programs.parts;
    if (this.parts.adapter !== undefined) this.base = new BaseWeights(programs, setup.weights);
    this.present = checkpoint === undefined ? this.initial() : this.stored(checkpoint);
    this.version = checkpoint?.version ?? 0;
  }

  get current(): WeightSet {
    return this.present;
  }
  /** Names of the snapshots. */
  get names(): readonly Model[] {
    return [...this.snapshots.keys()];
  }
  /** @throws UserError where neither the policy nor a snapshot is called so. @param others names to list there as well */
  of(model: Model, others: Iterable<Model> = []): WeightSet {
    const found = model === "policy" ? this.present : this.snapshots.get(model);
    if (found === undefined) throw unknownModel(model, [...this.names, ...others]);
    return found;
  }

  /** Weights of the decoder or of an adapter, and heads, as the setup has them. */
  private initial(): WeightSet {
    const { seed = 0, weights, stored } = this.setup;
    const fresh = initialParts(this.parts, seed);
    return this.base === undefined ? this.decoder(weights, fresh, stored) : this.upload(fresh);
  }
  private stored(checkpoint: Checkpoint): WeightSet {
    const heads = Object.fromEntries(
      Object.entries(checkpoint.heads).map(([name, { data }]) => [name, data]),
    );
    return checkpoint.adapter === undefined
      ? this.decoder(checkpoint.open, heads, true)
      : this.upload({ ...checkpoint.adapter.weights, ...heads });
  }
  /** The decoder's weights and the heads'; those in files are folded as they are read, and no more yet. */
  private decoder(open: OpenWeights, heads: Named<Float32Array>, stored: boolean): WeightSet {
    if (stored && this.setup.lean && this.parts.heads.length === 0) return new WeightSet(this.programs, open);
    const own = uploadValues(this.setup.runtime, headShapes(this.parts), heads);
    return new WeightSet(this.programs, { ...uploadAll(this.programs, open), ...own });
  }
  /** A set of all that trains. An adapter whose every B is zero leaves the base as it is. */
  private upload(values: Values): WeightSet {
    const shapes = trainedShapes(this.parts);
    checkSizes(Object.entries(shapes), values);
    const untouched = Object.keys(shapes).every((name) => !name.endsWith(".B") || isZero(take(values, name)));
    const tensors = uploadValues(this.setup.runtime, shapes, values);
    return new WeightSet(this.programs, tensors, this.base, untouched);
  }

  /** Values of every weight of the decoder, adapters merged, and of the heads (see transformer/weights.ts). */
  readAll(): Record<string, Float32Array> {
    const { shape, adapter } = this.parts;
    const trained = this.present.read();
    if (adapter === undefined) return trained;
    const heads = Object.fromEntries(
      Object.keys(headShapes(this.parts)).map((name) => [name, take(trained, name)]),
    );
    const merged = (): WeightReader => mergedReader(this.setup.weights(), shape, adapter, trained);
    return { ...readEvery(shape, merged), ...heads };
  }
  /** Replaces the present weights, or makes a snapshot. */
  write(values: Values, of: Model): void {
    const weights = this.upload(values);
    if (of === "policy") return this.replace(weights);
    this.snapshots.get(of)?.close();
    this.snapshots.set(of, weights);
  }
  /** Takes over what an optimiser step made of the present weights. */
  advance(tensors: Tensors): void {
    this.replace(new WeightSet(this.programs, tensors, this.base));
    this.version += 1;
  }
  /** @param accept takes up the rest of the checkpoint; where it throws, the present weights stay */
  restore(checkpoint: Checkpoint, accept: () => void): void {
    const weights = this.stored(checkpoint);
    try {
      accept();
    } catch (error) {
      weights.close();
      throw error;
    }
    this.version = checkpoint.version;
    this.replace(weights);
  }
  /** The present weights under another name, or a mean that moves towards them. */
  snapshot(name: Model, decay: number | undefined): void {
    const before = this.snapshots.get(name);
    this.snapshots.set(
      name,
      decay === undefined || before === undefined
        ? this.present.share()
        : before.towards(this.present, decay),
    );
    before?.close();
  }
  private replace(weights: WeightSet): void {
    this.present.close();
    this.present = weights;
    this.releaseMerged();
  }
  /** Snapshots of an adapter give their merged matrices back after use. */
  releaseMerged(): void {
    for (const set of this.snapshots.values()) if (set !== this.present) set.releaseMerged();
  }
  close(): void {
    this.present.close();
    for (const weights of this.snapshots.values()) weights.close();
    this.snapshots.clear();
    this.base?.close();
  }
}
