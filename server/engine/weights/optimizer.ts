/**
 * One optimiser step: gradients to the trained weights' own, clipping, then the method's update rule
 * (optimizers/). Weights and state are values: a step takes them and returns the next ones.
 *
 * Small models take the whole step in one run. Above `WHOLE_PARAMETERS` each weight has a run of its own, through one
 * program for each distinct size: the next state of one weight replaces the former before the next weight's is made,
 * so that the state is never there twice.
 */
import { UserError } from "../../../shared/lib/errors.ts";
import type { OptimizerChoice } from "../../core/slots/optimizer.ts";
import type { Random } from "../../lib/random.ts";
import type { UpdatePlan } from "../../core/policy.ts";
import {
  methodKey,
  noiseSpec,
  singleSpec,
  stateShapes,
  unfoldSpec,
  wholeSpec,
  type Method,
} from "./optimizerPrograms.ts";
import type { ProgramCache } from "../devices/programCache.ts";
import { take, countOf } from "../../core/ops.ts";
import {
  floats,
  freeAll,
  prefixed,
  under,
  type DeviceTensor,
  type Runtime,
  type Tensors,
} from "../devices/runtime.ts";
import type { StoredTensors } from "./safetensors.ts";
import { trainedCount, type TrainedWeights } from "../passes/trained.ts";

export const WHOLE_PARAMETERS = 10e6;
/** No clipping: larger than any finite norm's use, small enough to stay finite. */
const NO_CLIP = 1e30;

/** What an optimiser remembers, as a checkpoint keeps it. */
export interface OptimizerState {
  /** Which method, of which weights, the tensors belong to. */
  readonly method: string;
  /** Updates since the optimiser began or was reset. */
  readonly updates: number;
  /** By `name of the value / name of the weight`, in the engine's own layout; none before the first update. */
  readonly tensors: StoredTensors;
}

interface OptimizerStep {
  /** Of the whole gradient, before clipping. */
  readonly norm: number;
  readonly lr: number;
  /** The next trained weights; undefined where the norm is not finite: weights and state then stay as they were. */
  readonly applied: Record<string, DeviceTensor> | undefined;
}

export class Optimizer {
  /** Made when first needed: a policy that only answers keeps none. */
  private state: { readonly key: string; tensors: Record<string, DeviceTensor> } | undefined;
  /** Updates since the last reset. */
  updates = 0;
  private lost = false;

  constructor(
    private readonly programs: ProgramCache,
    private chosen: OptimizerChoice,
    private readonly trained: TrainedWeights,
    /** Above this many trained parameters, weight by weight. */
    private readonly wholeParameters = WHOLE_PARAMETERS,
  ) {}

  private get runtime(): Runtime {
    return this.programs.runtime;
  }
  private get method(): Method {
    return { rule: this.chosen.rule, clipsValues: this.chosen.clip_value !== null };
  }
  get choice(): OptimizerChoice {
    return this.chosen;
  }
  /** A method that keeps other things than the one before begins afresh, its warm-up included. */
  set choice(choice: OptimizerChoice) {
    this.chosen = choice;
    if (this.state !== undefined && this.state.key !== this.key) this.reset();
  }
  /** States of equal keys are of the same values. */
  private get key(): string {
    const { rule } = this.chosen;
    return this.trained.key === "model" ? rule.key : `${rule.key} of ${this.trained.key}`;
  }
  private get shapes(): Readonly<Record<string, readonly number[]>> {
    return stateShapes(this.chosen.rule, this.trained.weights);
  }
  reset(): void {
    this.close();
    this.updates = 0;
  }

  /** The learning rate of the next update: linear warm-up from lr / warmup over the first `warmup` updates. */
  rate(scale: number): number {
    const { lr, warmup, rule } = this.chosen;
    const update = this.updates + 1;
    return (rule.lr?.(update) ?? lr) * scale * (warmup > 0 ? Math.min(1, update / warmup) : 1);
  }

  /** The present state, zeros where there is none or it belongs to another method. */
  private held(): { readonly key: string; tensors: Record<string, DeviceTensor> } {
    const { key } = this;
    if (this.state !== undefined && this.state.key !== key) this.reset();
    this.state ??= {
      key,
      tensors: Object.fromEntries(
        Object.entries(this.shapes).map(([name, extents]) => [
          name,
          this.runtime.upload(new Float32Array(countOf(extents)), extents),
        ]),
      ),
    };
    return this.state;
  }

  /**
   * One step.
   * @param weights all that the gradients' unfolding reads; they stay the caller's
   * @param gradients freed here
   * @param scale factor on the learning rate: the schedule's
   * @param noise is added to the gradient by every weight, whose norm is then not clipped: a factor that follows from
   *   the gradient would tell of it
   */
  step(weights: Tensors, gradients: Tensors, scale: number, noise?: UpdatePlan["noise"]): OptimizerStep {
    if (this.lost)
      throw new UserError("The optimiser's state was lost when its last step failed.", {
        code: "optimizer-lost",
        action: "Resume the run, which loads its last checkpoint.",
      });
    const held = this.held();
    const lr = this.rate(scale);
    const scalars = this.scalars(lr);
    const whole = trainedCount(this.trained) <= this.wholeParameters;
    try {
      const { norm, applied } =
        whole && noise === undefined
          ? this.together(weights, gradients, scalars, held)
          : this.oneByOne(weights, gradients, scalars, held, noise);
      if (applied !== undefined) this.updates += 1;
      return { norm, lr, applied };
    } finally {
      freeAll(gradients);
      freeAll(scalars);
    }
  }

  private together(
    weights: Tensors,
    gradients: Tensors,
    scalars: Tensors,
    held: { tensors: Record<string, DeviceTensor> },
  ): Omit<OptimizerStep, "lr"> {
    const { method, trained } = this;
    const results = this.programs
      .get(`update ${methodKey(method)} ${trained.key}`, () => wholeSpec(trained, method))
      .run({
        ...prefixed("w/", weights),
        ...prefixed("s/", held.tensors),
        ...prefixed("g/", gradients),
        ...prefixed("x/", scalars),
      });
    const norm = readScalar(take(results, "norm"));
    const [applied, state] = [under(results, "w/"), under(results, "s/")];
    if (!Number.isFinite(norm)) {
      for (const fresh of [applied, state]) freeAll(fresh);
      return { norm, applied: undefined };
    }
    freeAll(held.tensors);
    held.tensors = state;
    return { norm, applied };
  }

  private oneByOne(
    weights: Tensors,
    gradients: Tensors,
    scalars: Tensors,
    held: { tensors: Record<string, DeviceTensor> },
    noise: UpdatePlan["noise"],
  ): Omit<OptimizerStep, "lr"> {
    const { trained } = this;
    const results = this.programs
      .get(`unfold ${trained.key}`, () => unfoldSpec(trained))
      .run({ ...prefixed("w/", weights), ...prefixed("g/", gradients) });
    freeAll(gradients);
    const norm = readScalar(take(results, "norm"));
    const own = under(results, "g/");
    const applied: Record<string, DeviceTensor> = {};
    const clip = this.chosen.clip_norm ?? NO_CLIP;
    const factor = this.runtime.upload(
      Float32Array.of(noise === undefined ? Math.min(1, clip / (norm + 1e-6)) : 1),
      [],
    );
    try {
      if (!Number.isFinite(norm)) return { norm, applied: undefined };
      for (const name of Object.keys(trained.weights)) {
        const gradient = noise === undefined ? take(own, name) : this.noisy(take(own, name), noise);
        applied[name] = this.moveAlone(name, take(weights, name), gradient, factor, scalars, held);
        gradient.free();
      }
      return { norm, applied };
    } catch (error) {
      // Some weights' state has moved on and others' has not.
      this.lost = true;
      freeAll(applied);
      throw error;
    } finally {
      factor.free();
      freeAll(own);
    }
  }

  /** The gradient with Gaussian noise; the one without is freed. */
  private noisy(
    gradient: DeviceTensor,
    { deviation, random }: NonNullable<UpdatePlan["noise"]>,
  ): DeviceTensor {
    const extents = gradient.shape;
    const drawn = this.runtime.upload(gaussian(countOf(extents), deviation, random), extents);
    const results = this.programs
      .get(`noise of rank ${extents.length}`, () => noiseSpec(extents.length))
      .run({ gradient, noise: drawn });
    drawn.free();
    gradient.free();
    return take(results, "sum");
  }

  private moveAlone(
    name: string,
    weight: DeviceTensor,
    gradient: DeviceTensor,
    factor: DeviceTensor,
    scalars: Tensors,
    held: { tensors: Record<string, DeviceTensor> },
  ): DeviceTensor {
    const { method } = this;
    const extents = take(this.trained.weights, name);
    const names = Object.keys(method.rule.state(extents));
    const before = Object.fromEntries(names.map((own) => [own, take(held.tensors, `${own}/${name}`)]));
    const moved = this.programs
      .get(`update ${methodKey(method)} [${extents.join()}]`, () => singleSpec(extents, method))
      .run({ weight, gradient, factor, ...prefixed("s/", before), ...prefixed("x/", scalars) });
    for (const own of names) held.tensors[`${own}/${name}`] = take(moved, `s/${own}`);
    freeAll(before);
    return take(moved, "weight");
  }

  private scalars(lr: number): Record<string, DeviceTensor> {
    const { rule, clip_norm, clip_value } = this.chosen;
    const values: Record<string, number> = {
      ...rule.scalars(this.updates + 1, lr),
      clip: clip_norm ?? NO_CLIP,
      ...(clip_value === null ? {} : { bound: clip_value }),
    };
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, this.runtime.upload(Float32Array.of(value), [])]),
    );
  }

  /** What a checkpoint keeps: everything the next update depends on. */
  read(): OptimizerState {
    const tensors = Object.entries(this.state?.tensors ?? {}).map(
      ([name, tensor]) => [name, { shape: tensor.shape, data: floats(tensor) }] as const,
    );
    return {
      method: this.state?.key ?? this.key,
      updates: this.updates,
      tensors: Object.fromEntries(tensors),
    };
  }
  /**
   * Takes up what `read` returned, whichever method it was of: another one chosen by the next step begins afresh.
   * @throws UserError where it says to be of this method and weights, and is not
   */
  write({ method, updates, tensors }: OptimizerState): void {
    if (method === this.key && Object.keys(tensors).length > 0) this.check(tensors);
    this.close();
    this.updates = updates;
    if (Object.keys(tensors).length === 0) return;
    this.state = {
      key: method,
      tensors: Object.fromEntries(
        Object.entries(tensors).map(([name, { shape, data }]) => [name, this.runtime.upload(data, shape)]),
      ),
    };
  }
  private check(tensors: StoredTensors): void {
    for (const [name, extents] of Object.entries(this.shapes)) {
      const found = tensors[name]?.shape;
      if (found?.join() === extents.join()) continue;
      throw new UserError(
        `The optimiser's ${name} should have the extents [${extents.join(", ")}] but ${found === undefined ? "is missing" : `has [${found.join(", ")}]`}.`,
        {
          code: "optimizer-state",
          action: "Use another checkpoint: this one's optimizer.safetensors belongs to another model.",
        },
      );
    }
  }
  /** Bytes of the state as it is held. */
  get bytes(): number {
    return Object.values(this.state?.tensors ?? {}).reduce(
      (total, tensor) => total + 4 * countOf(tensor.shape),
      0,
    );
  }
  close(): void {
    if (this.state !== undefined) freeAll(this.state.tensors);
    this.state = undefined;
    this.lost = false;
  }
}

/** Box and Muller's transform: two numbers of each pair of uniform ones. */
export function gaussian(count: number, deviation: number, random: Random): Float32Array {
  const values = new Float32Array(count);
  for (let i = 0; i < count; i += 2) {
    const radius = deviation * Math.sqrt(-2 * Math.log(1 - random.next()));
    const angle = 2 * Math.PI * random.next();
    values[i] = radius * Math.cos(angle);
    if (i + 1 < count) values[i + 1] = radius * Math.sin(angle);
  }
  return values;
}

function readScalar(tensor: DeviceTensor): number {
  const value = floats(tensor)[0] ?? NaN;
  tensor.free();
  return value;
}
