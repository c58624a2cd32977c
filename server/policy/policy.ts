/** The policy behind the seam: sets of weights on a device and what is done with them. */
import { isDeepStrictEqual } from "node:util";
import { UserError } from "../../shared/errors.ts";
import type { OptimizerChoice } from "../config/declaration.ts";
import type {
  Batch,
  Channel,
  DecodeOptions,
  Model,
  Policy,
  Prompt,
  Sample,
  Stats,
  UpdatePlan,
  UpdateStats,
  Weigh,
} from "../seams.ts";
import { readCheckpoint, writeCheckpoint } from "./checkpoint.ts";
import { generate } from "./generate.ts";
import type { Generator } from "./lanes.ts";
import { microBatches, perRun, rowsOf, type MicroBatch } from "./layout.ts";
import { Optimizer } from "./optimizer.ts";
import { Programs } from "./programs.ts";
import { floats, freeAll, prefixed, take, type DeviceTensor, type Named, type Runtime } from "./runtime.ts";
import { detailOf, emptyColumns, isOwnChannel, scoreRuns, unsupportedChannel } from "./score.ts";
import { checkSameTokenizer, type PolicyTokenizer } from "./tokenizers/index.ts";
import { rotaryExtents, rotaryTable, usableContext } from "./transformer/positions.ts";
import { parameterCount, weightShapes, type Shape } from "./transformer/weights.ts";
import { gradientOf, type Engine, type Gradient } from "./update.ts";
import { WeightSet } from "./weightSet.ts";

export interface Backend {
  readonly name: "native" | "wasm" | "webgpu";
  /** Why this one, as a sentence. */
  readonly reason: string;
  readonly device: string;
}

export interface TrainablePolicy extends Policy {
  readonly tokenizer: PolicyTokenizer;
  readonly backend: Backend;
  readonly parameters: number;
  /** Weights, optimiser state, config and tokenizer into a folder; an existing one is replaced when the new one is whole. */
  save(folder: string): Promise<void>;
  /** Weights, optimiser state and version from a folder that `save` wrote. Snapshots stay. */
  load(folder: string): Promise<void>;
  /** Other hyper-parameters from the next update on; `reset` also forgets the moments and restarts the warm-up. */
  setOptimizer(choice: OptimizerChoice, options: { readonly reset: boolean }): void;
  resetOptimizer(): void;
  /** Names that `score` and `generate` know beside `policy`. */
  readonly snapshots: readonly Model[];
  /** Handles alive on the device. */
  counters(): { readonly tensors: number };
  close(): void;
}

export interface PolicySetup {
  readonly runtime: Runtime;
  readonly backend: Backend;
  readonly shape: Shape;
  readonly tokenizer: PolicyTokenizer;
  readonly weights: Named<Float32Array>;
  readonly optimizer: OptimizerChoice;
  /** Most tokens, padding included, of a micro-batch. */
  readonly micro_tokens: number;
  /** Most bytes of activations that the staged mode keeps. */
  readonly kept_bytes: number;
  /** Most bytes of the lanes' caches in generation. */
  readonly cache_bytes: number;
}

const unknownModel = (name: Model, known: Iterable<Model>): UserError =>
  new UserError(`There is no model ${name} in this run.`, {
    code: "model-unknown",
    action: `Known models: ${["policy", ...known].join(", ")}.`,
  });

export class LanguageModel implements TrainablePolicy {
  readonly backend: Backend;
  readonly tokenizer: PolicyTokenizer;
  readonly shape: Shape;
  version = 0;
  private readonly programs: Programs;
  private readonly optimizer: Optimizer;
  private readonly rotary: DeviceTensor;
  private readonly saved = new Map<Model, WeightSet>();
  private weights: WeightSet;

  constructor(readonly setup: PolicySetup) {
    this.backend = setup.backend;
    this.tokenizer = setup.tokenizer;
    this.shape = setup.shape;
    this.programs = new Programs(setup.runtime, setup.shape);
    this.optimizer = new Optimizer(this.programs, setup.optimizer);
    this.rotary = setup.runtime.upload(rotaryTable(setup.shape), rotaryExtents(setup.shape));
    this.weights = this.upload(setup.weights);
  }
  get context(): number {
    return usableContext(this.shape);
  }
  get parameters(): number {
    return parameterCount(this.shape);
  }
  get snapshots(): readonly Model[] {
    return [...this.saved.keys()];
  }

  private upload(values: Named<Float32Array | Float64Array>): WeightSet {
    const shapes = Object.entries(weightShapes(this.shape));
    return new WeightSet(
      this.programs,
      Object.fromEntries(
        shapes.map(([name, extents]) => [name, this.setup.runtime.upload(take(values, name), extents)]),
      ),
    );
  }
  private weightsOf(model: Model): WeightSet {
    const found = model === "policy" ? this.weights : this.saved.get(model);
    if (found === undefined) throw unknownModel(model, this.saved.keys());
    return found;
  }
  private cut(batch: Batch): (keep?: (row: MicroBatch["rows"][number]) => boolean) => MicroBatch[] {
    const rows = rowsOf(batch, this.tokenizer.bos);
    const tooLong = rows.find((row) => row.tokens.length > this.context);
    if (tooLong !== undefined) {
      throw new UserError(
        `Row ${tooLong.row} has ${tooLong.tokens.length} tokens with its context, and the model's context is ${this.context}.`,
        {
          code: "row-too-long",
          action:
            "Shorten prompts or rollout.max_tokens, or give the model a longer context (model.size.context).",
        },
      );
    }
    const { micro_tokens, runtime } = this.setup;
    return (keep) =>
      microBatches(
        keep === undefined ? rows : rows.filter(keep),
        micro_tokens,
        runtime.streams,
        this.tokenizer.pad,
      );
  }

  async *generate(prompts: readonly Prompt[], decode: DecodeOptions): AsyncGenerator<Sample> {
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
    const stats: Partial<Record<Channel, Float64Array>> = {};
    const own = channels.filter(isOwnChannel);
    if (own.length > 0) {
      const columns = emptyColumns(batch);
      const runs = perRun(this.cut(batch)(), this.setup.runtime.streams, this.tokenizer.pad);
      scoreRuns(this.programs, this.weightsOf(model).folded, this.rotary, runs, detailOf(own), columns);
      for (const channel of own) stats[channel] = columns[channel];
    }
    return { ...stats, ...this.scoredByOthers(batch, channels) };
  }
  /** Channels `logp:<model>`. */
  private scoredByOthers(batch: Batch, channels: readonly Channel[]): Stats {
    const stats: Partial<Record<Channel, Float64Array>> = {};
    for (const channel of channels) {
      if (isOwnChannel(channel)) continue;
      if (!channel.startsWith("logp:")) throw unsupportedChannel(channel);
      const { logp } = this.scored(batch, { model: channel.slice("logp:".length), channels: ["logp"] });
      if (logp !== undefined) stats[channel] = logp;
    }
    return stats;
  }

  private gradient(batch: Batch, plan: UpdatePlan, weigh: Weigh): Gradient {
    const { programs, rotary } = this;
    const engine: Engine = {
      programs,
      weights: this.weights.folded,
      rotary,
      pad: this.tokenizer.pad,
      budget: this.setup.kept_bytes,
    };
    return gradientOf(engine, batch, plan, weigh, this.cut(batch), this.scoredByOthers(batch, plan.channels));
  }

  async update(batch: Batch, plan: UpdatePlan, weigh: Weigh): Promise<UpdateStats> {
    if (plan.per_sequence_clip !== undefined) {
      throw new UserError("Clipping the gradient of each sequence is not done by this engine yet.", {
        code: "per-sequence-clip",
        action: "Remove per_sequence_clip from the objective.",
      });
    }
    const { weighed, mode, folded, tokens } = this.gradient(batch, plan, weigh);
    const scale = plan.lr_scale ?? 1;
    const metrics = { ...weighed.metrics };
    if (folded === undefined)
      return {
        loss: weighed.loss,
        grad_norm: 0,
        lr: this.optimizer.rate(scale),
        tokens: 0,
        metrics: { ...metrics, "update/skipped": 1 },
        mode,
      };
    try {
      const { norm, lr, applied } = this.optimizer.step(this.weights.tensors, folded, scale);
      if (applied === undefined)
        return {
          loss: weighed.loss,
          grad_norm: norm,
          lr: 0,
          tokens,
          metrics: { ...metrics, "update/skipped": 1 },
          mode,
        };
      this.replace(new WeightSet(this.programs, applied));
      this.version += 1;
      return {
        loss: weighed.loss,
        grad_norm: norm,
        lr,
        tokens,
        metrics: { ...metrics, "update/skipped": 0 },
        mode,
      };
    } finally {
      freeAll(folded);
    }
  }
  private replace(weights: WeightSet): void {
    this.weights.close();
    this.weights = weights;
  }

  /** The gradient by every weight, without a step: what tests compare. Zero where nothing has a coefficient. */
  gradients(batch: Batch, plan: UpdatePlan, weigh: Weigh): Record<string, Float32Array> {
    const { folded } = this.gradient(batch, plan, weigh);
    if (folded === undefined) return {};
    const results = this.programs
      .gradient()
      .run({ ...prefixed("w/", this.weights.tensors), ...prefixed("g/", folded) });
    const values = Object.fromEntries(
      Object.entries(results).map(([name, tensor]) => [name, floats(tensor)]),
    );
    freeAll(results);
    freeAll(folded);
    return values;
  }
  /** Values of every weight, in this engine's own layout (see transformer/weights.ts). */
  readWeights(): Record<string, Float32Array> {
    return Object.fromEntries(
      Object.entries(this.weights.tensors).map(([name, tensor]) => [name, floats(tensor)]),
    );
  }
  /** Replaces the weights; moments and version stay. */
  writeWeights(values: Named<Float32Array | Float64Array>): void {
    this.replace(this.upload(values));
  }

  async snapshot(name: Model, decay?: number): Promise<void> {
    const before = this.saved.get(name);
    this.saved.set(
      name,
      decay === undefined || before === undefined ? this.weights.share() : this.averaged(before, decay),
    );
    before?.close();
  }
  private averaged(before: WeightSet, decay: number): WeightSet {
    const factor = this.setup.runtime.upload(Float32Array.of(decay), []);
    const feeds = {
      ...prefixed("a/", before.tensors),
      ...prefixed("w/", this.weights.tensors),
      decay: factor,
    };
    const mixed = this.programs.average().run(feeds);
    factor.free();
    return new WeightSet(this.programs, mixed);
  }

  setOptimizer(choice: OptimizerChoice, { reset }: { readonly reset: boolean }): void {
    this.optimizer.choice = choice;
    if (reset) this.optimizer.reset();
  }
  resetOptimizer(): void {
    this.optimizer.reset();
  }

  async save(folder: string): Promise<void> {
    const { shape, version } = this;
    const { updates } = this.optimizer;
    writeCheckpoint(folder, {
      shape,
      version,
      updates,
      tokenizer: this.tokenizer,
      weights: this.readWeights(),
      ...this.optimizer.read(),
    });
  }
  async load(folder: string): Promise<void> {
    const checkpoint = readCheckpoint(folder);
    if (!isDeepStrictEqual(checkpoint.shape, this.shape)) {
      throw new UserError(`The checkpoint ${folder} is of a model of another size.`, {
        file: folder,
        code: "checkpoint-shape",
        action: "Open a policy of that checkpoint's own size, or name another checkpoint.",
      });
    }
    checkSameTokenizer(folder, checkpoint.tokenizer, this.tokenizer);
    this.writeWeights(checkpoint.weights);
    this.optimizer.write(checkpoint);
    this.version = checkpoint.version;
  }

  counters(): { readonly tensors: number } {
    return { tensors: this.setup.runtime.tensors() };
  }
  close(): void {
    this.weights.close();
    for (const weights of this.saved.values()) weights.close();
    this.saved.clear();
    this.optimizer.close();
    this.rotary.free();
    this.setup.runtime.close();
  }
}
