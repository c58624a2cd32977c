/** AdamW (Loshchilov and Hutter, "Decoupled Weight Decay Regularization") with warm-up and clipping by global norm. */
import type { OptimizerChoice } from "../config/declaration.ts";
import type { Ops } from "./ops.ts";
import type { Programs } from "./programs.ts";
import {
  floats,
  freeAll,
  prefixed,
  take,
  under,
  type DeviceTensor,
  type Named,
  type ProgramSpec,
  type Runtime,
  type Tensors,
} from "./runtime.ts";
import { unfold, foldedNames } from "./transformer/fold.ts";
import { countOf, weightShapes, type Shape } from "./transformer/weights.ts";

/** Scalars that change from step to step. */
const scalars = ["rate", "epsilon", "keep", "clip", "beta1", "beta2"] as const;

function clipFactor<T>(ops: Ops<T>, norm: T, clip: T): T {
  return ops.minimum(ops.div(clip, ops.shift(norm, 1e-6)), ops.floats(Float32Array.of(1), []));
}

function moved<T>(
  ops: Ops<T>,
  feeds: Named<T>,
  name: string,
  gradient: T,
  decays: boolean,
): Record<string, T> {
  const [w, m, v] = [take(feeds, `w/${name}`), take(feeds, `m/${name}`), take(feeds, `v/${name}`)];
  const towards = (from: T, to: T, beta: T): T => ops.add(to, ops.mul(beta, ops.sub(from, to)));
  const m2 = towards(m, gradient, take(feeds, "beta1"));
  const v2 = towards(v, ops.square(gradient), take(feeds, "beta2"));
  const step = ops.div(ops.mul(m2, take(feeds, "rate")), ops.add(ops.sqrt(v2), take(feeds, "epsilon")));
  const kept = decays ? ops.mul(w, take(feeds, "keep")) : w;
  return { [`w/${name}`]: ops.sub(kept, step), [`m/${name}`]: m2, [`v/${name}`]: v2 };
}

/** Weights, moments and folded gradients → the next weights and moments, and the norm before clipping. */
const applySpec = (shape: Shape): ProgramSpec => {
  const weights = Object.fromEntries(
    Object.entries(weightShapes(shape)).map(([name, extents]) => [
      name,
      { dtype: "float" as const, rank: extents.length },
    ]),
  );
  const matrix = { dtype: "float" as const, rank: 2 };
  const scalar = { dtype: "float" as const, rank: 0 };
  return {
    name: "adamw",
    feeds: {
      ...prefixed("w/", weights),
      ...prefixed("m/", weights),
      ...prefixed("v/", weights),
      ...prefixed("g/", Object.fromEntries(foldedNames(shape).map((name) => [name, matrix]))),
      ...Object.fromEntries(scalars.map((name) => [name, scalar])),
    },
    crossing: ["norm"],
    build<T>(ops: Ops<T>, feeds: Named<T>) {
      const gradients = unfold(ops, shape, under(feeds, "w/"), under(feeds, "g/"));
      const norm = ops.sqrt(
        ops.addAll(Object.values(gradients).map((gradient) => ops.sumEverything(ops.square(gradient)))),
      );
      const factor = clipFactor(ops, norm, take(feeds, "clip"));
      const results: Record<string, T> = { norm };
      for (const [name, gradient] of Object.entries(gradients)) {
        // Gains of norms are the only vectors: they do not decay.
        Object.assign(
          results,
          moved(ops, feeds, name, ops.mul(gradient, factor), weightShapes(shape)[name]!.length > 1),
        );
      }
      return results;
    },
  };
};

/** No clipping: larger than any finite norm's use, small enough to stay finite. */
const NO_CLIP = 1e30;

export class Optimizer {
  private first: Record<string, DeviceTensor>;
  private second: Record<string, DeviceTensor>;
  /** Updates since the last reset. */
  updates = 0;
  constructor(
    private readonly programs: Programs,
    public choice: OptimizerChoice,
  ) {
    this.first = this.zeros();
    this.second = this.zeros();
  }
  private get runtime(): Runtime {
    return this.programs.runtime;
  }
  private zeros(): Record<string, DeviceTensor> {
    const shapes = Object.entries(weightShapes(this.programs.shape));
    return Object.fromEntries(
      shapes.map(([name, extents]) => [
        name,
        this.runtime.upload(new Float32Array(countOf(extents)), extents),
      ]),
    );
  }
  reset(): void {
    this.close();
    this.first = this.zeros();
    this.second = this.zeros();
    this.updates = 0;
  }

  /** The learning rate of the next update: linear warm-up from lr / warmup over the first `warmup` updates. */
  rate(scale: number): number {
    const { lr, warmup } = this.choice;
    return lr * scale * (warmup > 0 ? Math.min(1, (this.updates + 1) / warmup) : 1);
  }

  /** One step. `applied` is undefined where the norm is not finite: weights and moments then stay as they were. */
  step(
    weights: Tensors,
    gradients: Tensors,
    scale: number,
  ): { norm: number; lr: number; applied: Record<string, DeviceTensor> | undefined } {
    const lr = this.rate(scale);
    const hyper = this.hyper(lr);
    const feeds = {
      ...prefixed("w/", weights),
      ...prefixed("m/", this.first),
      ...prefixed("v/", this.second),
      ...prefixed("g/", gradients),
      ...hyper,
    };
    const results = this.programs.get("adamw", () => applySpec(this.programs.shape)).run(feeds);
    freeAll(hyper);
    const normTensor = take(results, "norm");
    const norm = floats(normTensor)[0] ?? NaN;
    normTensor.free();
    const applied = under(results, "w/");
    const [first, second] = [under(results, "m/"), under(results, "v/")];
    if (!Number.isFinite(norm)) {
      for (const fresh of [applied, first, second]) freeAll(fresh);
      return { norm, lr, applied: undefined };
    }
    this.close();
    [this.first, this.second] = [first, second];
    this.updates += 1;
    return { norm, lr, applied };
  }

  private hyper(lr: number): Record<string, DeviceTensor> {
    const { betas, epsilon, weight_decay, clip_norm } = this.choice;
    const t = this.updates + 1;
    const root = Math.sqrt(1 - betas[1] ** t);
    const values: Record<(typeof scalars)[number], number> = {
      // lr · m̂ / (√v̂ + ε) with both bias corrections moved out of the element-wise part.
      rate: (lr * root) / (1 - betas[0] ** t),
      epsilon: epsilon * root,
      keep: 1 - lr * weight_decay,
      clip: clip_norm ?? NO_CLIP,
      beta1: betas[0],
      beta2: betas[1],
    };
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, this.runtime.upload(Float32Array.of(value), [])]),
    );
  }

  read(): { first: Record<string, Float32Array>; second: Record<string, Float32Array> } {
    const read = (tensors: Tensors): Record<string, Float32Array> =>
      Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [name, floats(tensor)]));
    return { first: read(this.first), second: read(this.second) };
  }
  write(state: { first: Named<Float32Array>; second: Named<Float32Array>; updates: number }): void {
    this.close();
    const shapes = weightShapes(this.programs.shape);
    const upload = (values: Named<Float32Array>): Record<string, DeviceTensor> =>
      Object.fromEntries(
        Object.entries(shapes).map(([name, extents]) => [
          name,
          this.runtime.upload(take(values, name), extents),
        ]),
      );
    this.first = upload(state.first);
    this.second = upload(state.second);
    this.updates = state.updates;
  }
  close(): void {
    freeAll(this.first);
    freeAll(this.second);
  }
}
