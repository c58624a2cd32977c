/** The policy behind the seam: sets of weights on a device and what is done with them. */
import type { OptimizerChoice } from "../core/slots/optimizer.ts";
import type { Model } from "../core/basics.ts";
import type { Batch } from "../core/rollouts.ts";
import type {
  Channel,
  DecodeOptions,
  Prompt,
  Sample,
  Stats,
  UpdatePlan,
  UpdateStats,
  Weigh,
} from "../core/policy.ts";
import type { States } from "../core/states.ts";
import { readCheckpointOf, writeCheckpoint } from "./weights/checkpoint.ts";
import { cutRows, type Cut } from "./passes/cut.ts";
import { mergedReader } from "./formats/index.ts";
import { readEvery, type OpenWeights, type WeightReader } from "./formats/model.ts";
import { generate } from "./generation/generate.ts";
import type { Generator } from "./generation/generator.ts";
import { perRun, rowsOf, shownAs } from "./passes/layout.ts";
import { asReadBy, readerOf } from "../core/rows/reader.ts";
import { uploadAll, uploadValues } from "./weights/loading.ts";
import { NamedOptimizers } from "./weights/namedOptimizers.ts";
import { Optimizer, type OptimizerState } from "./weights/optimizer.ts";
import { passesOver } from "./passes/layeredPasses.ts";
import { otherAdapter } from "./weights/otherAdapter.ts";
import { headShapes, initialParts, trainedOf, trainedShapes, type Parts } from "./parts.ts";
import {
  checkComparable,
  unknownModel,
  type Backend,
  type PolicySetup,
  type TrainablePolicy,
} from "./policySetup.ts";
import { Programs } from "./passes/programs.ts";
import { headLogpChannel } from "../core/channelNames.ts";
import { trainedCount } from "./passes/trained.ts";
import { parseChannel } from "./transformer/head.ts";
import { take, type Named } from "../core/ops.ts";
import { freeAll, type DeviceTensor } from "./devices/runtime.ts";
import { checkChannel, emptyColumns, isOwnChannel, type Columns } from "./passes/score.ts";
import { checkSizes, guest } from "./sharing.ts";
import { textStates } from "./textStates.ts";
import type { PolicyTokenizer } from "./tokenizers/types.ts";
import { rotaryExtents, rotaryTable, usableContext } from "./transformer/positions.ts";
import { parameterCount, type Shape } from "./transformer/weights.ts";
import { clippedGradientOf, gradientOf, unfolded, type Engine, type Gradient } from "./passes/update.ts";
import { BaseWeights, WeightSet } from "./weights/weightSet.ts";

export type { Backend, PolicySetup, TrainablePolicy } from "./policySetup.ts";

const isZero = (values: Float32Array | Float64Array): boolean => values.every((value) => value === 0);

export class LanguageModel implements TrainablePolicy {
  readonly backend: Backend;
  readonly tokenizer: PolicyTokenizer;
  readonly shape: Shape;
  readonly parts: Parts;
  readonly angles: States["angles"];
  readonly embed: States["embed"];
  version = 0;
  private readonly programs: Programs;
  private readonly optimizer: Optimizer;
  /** Optimisers beside it, by their names: they step the same weights and remember their own. */
  private readonly besides: NamedOptimizers;
  private readonly rotary: DeviceTensor;
  private readonly saved = new Map<Model, WeightSet>();
  private readonly attached = new Map<Model, LanguageModel>();
  private readonly base: BaseWeights | undefined;
  private weights: WeightSet;

  constructor(readonly setup: PolicySetup) {
    const { shape, heads = [], adapter, runtime } = setup;
    this.backend = setup.backend;
    this.tokenizer = setup.tokenizer;
    this.shape = shape;
    this.parts = { shape, heads, adapter };
    this.programs = new Programs(runtime, this.parts, setup.lean);
    this.optimizer = new Optimizer(this.programs, setup.optimizer, trainedOf(this.parts));
    this.besides = new NamedOptimizers(this.programs, trainedOf(this.parts));
    this.rotary = runtime.upload(rotaryTable(shape), rotaryExtents(shape));
    if (adapter !== undefined) this.base = new BaseWeights(this.programs, setup.weights);
    this.weights = setup.from === undefined ? this.begun() : this.continued(setup.from);
    const states = textStates(
      setup,
      (model) => this.engineOf(model),
      () => this.rest(),
    );
    [this.angles, this.embed] = [states.angles, states.embed];
  }
  /** What the setup says: weights of the decoder or of an adapter, and heads. */
  private begun(): WeightSet {
    const { seed = 0, weights, stored } = this.setup;
    const fresh = initialParts(this.parts, seed);
    return this.base === undefined ? this.decoder(weights, fresh, stored) : this.upload(fresh);
  }
  /** What a checkpoint says, the optimiser's state included. @throws UserError where it is not of such a model */
  private continued(folder: string): WeightSet {
    const checkpoint = readCheckpointOf(folder, this.parts, this.tokenizer);
    const stored = Object.entries(checkpoint.heads).map(([name, { data }]) => [name, data] as const);
    const heads = Object.fromEntries(stored);
    const weights =
      checkpoint.adapter === undefined
        ? this.decoder(checkpoint.open, heads, true)
        : this.upload({ ...checkpoint.adapter.weights, ...heads });
    try {
      this.optimizer.write(checkpoint.optimizer);
    } catch (error) {
      weights.close();
      throw error;
    }
    this.version = checkpoint.version;
    return weights;
  }
  get context(): number {
    return usableContext(this.shape);
  }
  get parameters(): number {
    return parameterCount(this.shape);
  }
  get vocabulary(): number {
    return this.shape.vocabulary;
  }
  /** How many numbers the optimiser moves. */
  get trainedParameters(): number {
    return trainedCount(trainedOf(this.parts));
  }
  get snapshots(): readonly Model[] {
    return [...this.saved.keys()];
  }

  /** A set of the decoder's weights and the heads'; those in files are folded as they are read, and no more yet. */
  private decoder(open: OpenWeights, heads: Named<Float32Array>, stored: boolean): WeightSet {
    if (stored && this.setup.lean && this.parts.heads.length === 0) return new WeightSet(this.programs, open);
    const own = uploadValues(this.setup.runtime, headShapes(this.parts), heads);
    return new WeightSet(this.programs, { ...uploadAll(this.programs, open), ...own });
  }
  /** A set of all that trains. An adapter whose every B is zero leaves the base as it is. */
  private upload(values: Named<Float32Array | Float64Array>): WeightSet {
    const shapes = trainedShapes(this.parts);
    checkSizes(Object.entries(shapes), values);
    const untouched = Object.keys(shapes).every((name) => !name.endsWith(".B") || isZero(take(values, name)));
    return new WeightSet(
      this.programs,
      uploadValues(this.setup.runtime, shapes, values),
      this.base,
      untouched,
    );
  }
  private weightsOf(model: Model): WeightSet {
    const found = model === "policy" ? this.weights : this.saved.get(model);
    if (found === undefined) throw unknownModel(model, [...this.saved.keys(), ...this.attached.keys()]);
    return found;
  }
  attach(name: Model, other: TrainablePolicy): void {
    if (!(other instanceof LanguageModel)) throw new Error("internal: a policy of another engine");
    checkComparable(name, other, this);
    this.attached.set(name, other);
  }
  /** @param contexts of the batch, by their names */
  private engineOf(of: Model, contexts: Batch["contexts"] = {}): Engine {
    const { model } = readerOf(of);
    const attached = this.attached.get(model);
    if (attached !== undefined) return attached.engineOf("policy");
    const { programs, rotary, tokenizer, setup } = this;
    const set = this.weightsOf(model);
    return {
      programs,
      get weights() {
        return set.folded;
      },
      get unmerged() {
        return set.unmerged;
      },
      get merging() {
        return set.merging;
      },
      rest: () => set.rest(),
      vector: (name) => set.vector(name),
      seed: ((setup.seed ?? 0) * 1_000_003 + this.version) | 0,
      rotary,
      pad: tokenizer.pad,
      budget: setup.kept_bytes,
      run_bytes: setup.run_bytes,
      logits: setup.logits,
      other: (name) => this.engineOf(name),
      readBy: (name, run) => {
        const shown = contexts[readerOf(name).behind ?? ""];
        return shown === undefined
          ? run
          : run.map((micro) => shownAs(micro, shown, tokenizer.bos, tokenizer.pad));
      },
    };
  }
  /** Snapshots of an adapter give their merged matrices back after use. */
  private rest(): void {
    for (const set of this.saved.values()) if (set !== this.weights) set.rest();
  }
  private cut(batch: Batch): Cut {
    return cutRows(this.setup, rowsOf(batch, this.tokenizer.bos));
  }

  async *generate(prompts: readonly Prompt[], decode: DecodeOptions): AsyncGenerator<Sample> {
    for (const head of decode.perturb?.heads ?? []) checkChannel(headLogpChannel(head), this.parts);
    const weights = this.weightsOf(decode.model ?? "policy").share();
    try {
      const { programs, rotary, tokenizer, context, version } = this;
      const generator: Generator = {
        programs,
        weights: weights.folded,
        rotary,
        tokenizer,
        bos: tokenizer.bos,
        context,
        version,
        cache_bytes: this.setup.cache_bytes,
      };
      yield* generate(generator, prompts, decode);
    } finally {
      weights.close();
    }
  }

  async score(
    batch: Batch,
    ask: { readonly model: Model; readonly channels: readonly Channel[] },
  ): Promise<Stats> {
    return this.scored(batch, ask);
  }
  private scored(
    batch: Batch,
    { model, channels }: { readonly model: Model; readonly channels: readonly Channel[] },
  ): Stats {
    for (const channel of channels) checkChannel(channel, this.parts);
    try {
      const own = channels.filter(isOwnChannel);
      const stats = own.length === 0 ? {} : this.scoredBy(model, batch, own);
      return { ...stats, ...this.scoredByOthers(batch, channels) };
    } finally {
      this.rest();
    }
  }
  private scoredBy(model: Model, batch: Batch, channels: readonly Channel[]): Columns {
    const engine = this.engineOf(model, batch.contexts);
    const columns = emptyColumns(batch, channels);
    const runs = perRun(
      this.cut(asReadBy(model, batch))(),
      engine.programs.runtime.streams,
      this.tokenizer.pad,
    );
    const passes = passesOver(engine, runs, channels);
    for (const run of runs) passes.score(run, channels, columns);
    return columns;
  }
  /** Channels `logp:<model>`. */
  private scoredByOthers(batch: Batch, channels: readonly Channel[]): Stats {
    const stats: Columns = {};
    for (const channel of channels) {
      const parsed = parseChannel(channel);
      if (parsed?.kind !== "logp_of") continue;
      const { logp } = this.scoredBy(parsed.model, batch, ["logp"]);
      if (logp !== undefined) stats[channel] = logp;
    }
    return { ...stats };
  }

  private gradient(batch: Batch, plan: UpdatePlan, weigh: Weigh): Gradient {
    this.weights.train();
    const engine = this.engineOf("policy", batch.contexts);
    for (const channel of plan.channels) checkChannel(channel, this.parts);
    const others = this.scoredByOthers(batch, plan.channels);
    const cut = this.cut(batch);
    try {
      return plan.per_sequence_clip === undefined
        ? gradientOf(engine, batch, plan, weigh, cut, others)
        : clippedGradientOf(
            engine,
            batch,
            plan,
            weigh,
            cut,
            others,
            this.weights.trained,
            plan.per_sequence_clip,
          );
    } finally {
      this.rest();
    }
  }

  async update(batch: Batch, plan: UpdatePlan, weigh: Weigh): Promise<UpdateStats> {
    const { weighed, mode, folded, tokens } = this.gradient(batch, plan, weigh);
    const scale = plan.lr_scale ?? 1;
    const report = (grad_norm: number, lr: number, skipped: 0 | 1): UpdateStats => ({
      loss: weighed.loss,
      grad_norm,
      lr,
      tokens,
      metrics: { ...weighed.metrics, "update/skipped": skipped },
      mode,
    });
    const optimizer = this.optimizerOf(plan);
    if (folded === undefined) return report(0, optimizer.rate(scale), 1);
    try {
      const { norm, lr, applied } = optimizer.step(this.weights.trained, folded, scale, plan.noise);
      if (applied === undefined) return report(norm, 0, 1);
      this.replace(new WeightSet(this.programs, applied, this.base));
      this.version += 1;
      return report(norm, lr, 0);
    } finally {
      freeAll(folded);
    }
  }
  private optimizerOf({ optimizer }: UpdatePlan): Optimizer {
    return optimizer === undefined ? this.optimizer : this.besides.of(optimizer.name, optimizer.choice);
  }
  readOptimizer(name: string): OptimizerState | undefined {
    return this.besides.read(name);
  }
  writeOptimizer(name: string, choice: OptimizerChoice, state: OptimizerState): void {
    this.besides.of(name, choice).write(state);
  }
  private replace(weights: WeightSet): void {
    this.weights.close();
    this.weights = weights;
    this.rest();
  }

  /** The gradient by every weight, without a step: what tests compare. Zero where nothing has a coefficient. */
  gradients(batch: Batch, plan: UpdatePlan, weigh: Weigh): Record<string, Float32Array> {
    const { folded } = this.gradient(batch, plan, weigh);
    return folded === undefined ? {} : unfolded(this.programs, this.weights.trained, folded);
  }
  readTrained(of: Model = "policy"): Record<string, Float32Array> {
    return this.weightsOf(of).read();
  }
  readAdapterIn(folder: string): Record<string, Float32Array> {
    return otherAdapter(folder, this.parts, this.tokenizer, this.setup.weights);
  }
  /** Values of every weight of the decoder, adapters merged, and of the heads (see transformer/weights.ts). */
  readWeights(): Record<string, Float32Array> {
    const { shape, adapter } = this.parts;
    const trained = this.readTrained();
    if (adapter === undefined) return trained;
    const heads = Object.fromEntries(
      Object.keys(headShapes(this.parts)).map((name) => [name, take(trained, name)]),
    );
    const merged = (): WeightReader => mergedReader(this.setup.weights(), shape, adapter, trained);
    return { ...readEvery(shape, merged), ...heads };
  }
  writeWeights(values: Named<Float32Array | Float64Array>, of: Model = "policy"): void {
    const weights = this.upload(values);
    if (of === "policy") return this.replace(weights);
    this.saved.get(of)?.close();
    this.saved.set(of, weights);
  }
  adopt(values: Named<Float32Array | Float64Array>, version: number): void {
    this.writeWeights(values);
    this.version = version;
  }
  share(): Pick<PolicySetup, "runtime" | "backend"> {
    const { runtime, backend } = this.setup;
    return { runtime: guest(runtime), backend };
  }

  async snapshot(name: Model, decay?: number): Promise<void> {
    const before = this.saved.get(name);
    this.saved.set(
      name,
      decay === undefined || before === undefined
        ? this.weights.share()
        : before.towards(this.weights, decay),
    );
    before?.close();
  }

  setOptimizer(choice: OptimizerChoice, { reset }: { readonly reset: boolean }): void {
    this.optimizer.choice = choice;
    if (reset) this.optimizer.reset();
  }
  resetOptimizer(): void {
    this.optimizer.reset();
  }

  async save(folder: string): Promise<void> {
    const { shape, version, tokenizer, setup } = this;
    const { adapter } = this.parts;
    const trained = this.weights.values;
    const heads = Object.fromEntries(
      Object.entries(headShapes(this.parts)).map(([name, extents]) => [
        name,
        { shape: extents, data: take(trained, name) },
      ]),
    );
    writeCheckpoint(folder, {
      shape,
      version,
      tokenizer,
      heads,
      optimizer: this.optimizer.read(),
      ...(adapter === undefined
        ? { weights: trained }
        : { adapter: { adapter, weights: trained }, base: setup.base ?? readEvery(shape, setup.weights) }),
    });
  }
  async load(folder: string): Promise<void> {
    this.replace(this.continued(folder));
  }
  counters(): { readonly tensors: number } {
    return { tensors: this.setup.runtime.tensors() };
  }
  close(): void {
    this.weights.close();
    for (const weights of this.saved.values()) weights.close();
    this.saved.clear();
    this.base?.close();
    this.optimizer.close();
    this.besides.close();
    this.rotary.free();
    this.setup.runtime.close();
  }
}
