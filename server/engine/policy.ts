/** The language model that implements the seam: its weights, the passes over them, and its checkpoints. */
import type { OptimizerChoice } from "../core/slots/optimizer.ts";
import type { Model } from "../core/basics.ts";
import type { Batch } from "../core/rollouts.ts";
import {
  type DecodeOptions,
  type Prompt,
  type PromptFeed,
  type Sample,
  type Stats,
  type UpdatePlan,
  type UpdateStats,
  type Weigh,
} from "../core/policy.ts";
import type { States } from "../core/states.ts";
import { readCheckpointOf } from "./weights/checkpoint.ts";
import { generate } from "./generation/generate.ts";
import type { OptimizerState } from "./weights/optimizer.ts";
import { Optimizers } from "./weights/optimizers.ts";
import { otherAdapter } from "./weights/otherAdapter.ts";
import { PolicyCheckpoints } from "./weights/policyCheckpoints.ts";
import { PolicyWeights } from "./weights/policyWeights.ts";
import type { Parts } from "./parts.ts";
import { checkComparable, type Backend, type PolicySetup, type TrainablePolicy } from "./policySetup.ts";
import { PolicyPasses, type Ask } from "./passes/policyPasses.ts";
import { Programs } from "./passes/programs.ts";
import { headLogpChannel } from "../core/channelNames.ts";
import type { Named } from "../core/ops.ts";
import type { DeviceTensor } from "./devices/runtime.ts";
import { checkChannel } from "./passes/score.ts";
import { guest } from "./sharing.ts";
import { textStates, type TextStates } from "./textStates.ts";
import type { PolicyTokenizer } from "./tokenizers/types.ts";
import { rotaryExtents, rotaryTable, usableContext } from "./transformer/positions.ts";
import { parameterCount, type Shape } from "./transformer/weights.ts";
import { unfolded } from "./passes/update.ts";

export class LanguageModel implements TrainablePolicy {
  readonly backend: Backend;
  readonly tokenizer: PolicyTokenizer;
  readonly shape: Shape;
  readonly parts: Parts;
  readonly angles: States["angles"];
  readonly embed: States["embed"];
  readonly nextLogits: States["nextLogits"];
  readonly layerMeans: TextStates["layerMeans"];
  private readonly programs: Programs;
  private readonly rotary: DeviceTensor;
  private readonly weights: PolicyWeights;
  private readonly optimizers: Optimizers;
  private readonly passes: PolicyPasses;
  private readonly checkpoints: PolicyCheckpoints;

  constructor(readonly setup: PolicySetup) {
    const { shape, heads = [], adapter, runtime, tokenizer, from } = setup;
    this.backend = setup.backend;
    this.tokenizer = tokenizer;
    this.shape = shape;
    this.parts = { shape, heads, adapter };
    this.programs = new Programs(runtime, this.parts, setup.lean);
    this.optimizers = new Optimizers(this.programs, setup.optimizer);
    this.rotary = runtime.upload(rotaryTable(shape), rotaryExtents(shape));
    const checkpoint = from === undefined ? undefined : readCheckpointOf(from, this.parts, tokenizer);
    const weights = new PolicyWeights(setup, this.programs, checkpoint);
    if (checkpoint !== undefined) this.optimizers.own.write(checkpoint.optimizer);
    this.weights = weights;
    this.passes = new PolicyPasses(setup, this.programs, this.rotary, weights, this.optimizers);
    this.checkpoints = new PolicyCheckpoints(setup, this.parts, weights, this.optimizers);
    const states = textStates(
      setup,
      (model) => this.passes.engineOf(model),
      () => weights.releaseMerged(),
    );
    ({
      angles: this.angles,
      embed: this.embed,
      nextLogits: this.nextLogits,
      layerMeans: this.layerMeans,
    } = states);
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
  get version(): number {
    return this.weights.version;
  }
  get snapshots(): readonly Model[] {
    return this.weights.names;
  }

  async *generate(prompts: readonly Prompt[] | PromptFeed, decode: DecodeOptions): AsyncGenerator<Sample> {
    for (const head of decode.perturb?.heads ?? []) checkChannel(headLogpChannel(head), this.parts);
    const weights = this.passes.weightsOf(decode.model ?? "policy").share();
    try {
      const { programs, rotary, tokenizer, context, version, setup } = this;
      const { bos } = tokenizer;
      const { cache_bytes } = setup;
      const generator = { programs, rotary, tokenizer, bos, context, version, cache_bytes };
      const writer = { ...generator, weights: weights.folded };
      // What other models add is meant for the policy's own logits.
      const { logits_shift, ...plain } = decode;
      const own = decode.model === undefined || decode.model === "policy";
      yield* generate(writer, prompts, own && logits_shift !== undefined ? decode : plain);
    } finally {
      weights.close();
    }
  }
  async score(batch: Batch, ask: Ask): Promise<Stats> {
    return this.passes.score(batch, ask);
  }
  async update(batch: Batch, plan: UpdatePlan, weigh: Weigh): Promise<UpdateStats> {
    return this.passes.update(batch, plan, weigh);
  }
  /** The gradient by every weight, without a step. Empty where nothing has a coefficient. */
  gradients(batch: Batch, plan: UpdatePlan, weigh: Weigh): Record<string, Float32Array> {
    const { folded } = this.passes.gradient(batch, plan, weigh);
    return folded === undefined ? {} : unfolded(this.programs, this.weights.current.trained, folded);
  }
  attach(name: Model, other: TrainablePolicy): void {
    if (!(other instanceof LanguageModel)) throw new Error("internal: a policy of another engine");
    checkComparable(name, other, this);
    this.passes.attach(name, other.passes);
  }

  readTrained(of: Model = "policy"): Record<string, Float32Array> {
    return this.passes.weightsOf(of).read();
  }
  readAdapterIn(folder: string): Record<string, Float32Array> {
    return otherAdapter(folder, this.parts, this.tokenizer, this.setup.weights);
  }
  readWeights(): Record<string, Float32Array> {
    return this.weights.readAll();
  }
  writeWeights(values: Named<Float32Array | Float64Array>, of: Model = "policy"): void {
    this.weights.write(values, of);
  }
  adopt(values: Named<Float32Array | Float64Array>, version: number): void {
    this.weights.write(values, "policy");
    this.weights.version = version;
  }
  async snapshot(name: Model, decay?: number): Promise<void> {
    this.weights.snapshot(name, decay);
  }

  setOptimizer(choice: OptimizerChoice, { reset }: { readonly reset: boolean }): void {
    this.optimizers.own.choice = choice;
    if (reset) this.optimizers.own.reset();
  }
  resetOptimizer(): void {
    this.optimizers.own.reset();
  }
  readOptimizer(name: string): OptimizerState | undefined {
    return this.optimizers.read(name);
  }
  writeOptimizer(name: string, choice: OptimizerChoice, state: OptimizerState): void {
    this.optimizers.write(name, choice, state);
  }

  async save(folder: string): Promise<void> {
    this.checkpoints.save(folder);
  }
  async load(folder: string, version?: number): Promise<void> {
    this.checkpoints.load(folder);
    if (version !== undefined) this.weights.version = version;
  }
  share(): Pick<PolicySetup, "runtime" | "backend"> {
    const { runtime, backend } = this.setup;
    return { runtime: guest(runtime), backend };
  }
  counters(): { readonly tensors: number } {
    return { tensors: this.setup.runtime.tensors() };
  }
  close(): void {
    this.weights.close();
    this.optimizers.close();
    this.rotary.free();
    this.setup.runtime.close();
  }
}
