/** What is computed with a policy's weights: scores, gradients and optimiser steps. */
import type { Model } from "../../core/basics.ts";
import { parseChannel } from "../transformer/head.ts";
import type { Channel, Stats, UpdatePlan, UpdateStats, Weigh } from "../../core/policy.ts";
import type { Batch } from "../../core/rollouts.ts";
import { asReadBy, readerOf } from "../../core/rows/reader.ts";
import { freeAll, type DeviceTensor } from "../devices/runtime.ts";
import type { PolicySetup } from "../policySetup.ts";
import type { Optimizers } from "../weights/optimizers.ts";
import type { PolicyWeights } from "../weights/policyWeights.ts";
import type { WeightSet } from "../weights/weightSet.ts";
import { cutRows, type MicroBatches } from "./cut.ts";
import { perRun, rowsOf, withContexts } from "./layout.ts";
import { passesOver } from "./layeredPasses.ts";
import type { Engine } from "./passes.ts";
import type { Programs } from "./programs.ts";
import { checkChannel, emptyColumns, isOwnChannel, type ScoreColumns } from "./score.ts";
import { clippedGradientOf, gradientOf, type Gradient } from "./update.ts";

/** What to score: channels of one model. */
export interface Ask {
  readonly model: Model;
  readonly channels: readonly Channel[];
}

export class PolicyPasses {
  private readonly attached = new Map<Model, PolicyPasses>();

  constructor(
    private readonly setup: PolicySetup,
    private readonly programs: Programs,
    private readonly rotary: DeviceTensor,
    private readonly weights: PolicyWeights,
    private readonly optimizers: Optimizers,
  ) {}

  /** Lets channels name another policy's weights. */
  attach(name: Model, other: PolicyPasses): void {
    this.attached.set(name, other);
  }
  /** @throws UserError where no weights of this policy are called so */
  weightsOf(model: Model): WeightSet {
    return this.weights.of(model, this.attached.keys());
  }
  /** @param contexts of the batch, by their names */
  engineOf(of: Model, contexts: Batch["contexts"] = {}): Engine {
    const { model } = readerOf(of);
    const attached = this.attached.get(model);
    if (attached !== undefined) return attached.engineOf("policy");
    const { programs, rotary, setup } = this;
    const { tokenizer } = setup;
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
      releaseMerged: () => set.releaseMerged(),
      vector: (name) => set.vector(name),
      seed: ((setup.seed ?? 0) * 1_000_003 + this.weights.version) | 0,
      rotary,
      pad: tokenizer.pad,
      budget: setup.kept_bytes,
      run_bytes: setup.run_bytes,
      logits: setup.logits,
      other: (name) => this.engineOf(name),
      readBy: (name, run) => {
        const teacherContexts = contexts[readerOf(name).teacher ?? ""];
        return teacherContexts === undefined
          ? run
          : run.map((micro) => withContexts(micro, teacherContexts, tokenizer.bos, tokenizer.pad));
      },
    };
  }
  private cut(batch: Batch): MicroBatches {
    return cutRows(this.setup, rowsOf(batch, this.setup.tokenizer.bos));
  }

  score(batch: Batch, { model, channels }: Ask): Stats {
    for (const channel of channels) checkChannel(channel, this.programs.parts);
    try {
      const own = channels.filter(isOwnChannel);
      const stats = own.length === 0 ? {} : this.scoredBy(model, batch, own);
      return { ...stats, ...this.scoredByOthers(batch, channels) };
    } finally {
      this.weights.releaseMerged();
    }
  }
  private scoredBy(model: Model, batch: Batch, channels: readonly Channel[]): ScoreColumns {
    const engine = this.engineOf(model, batch.contexts);
    const columns = emptyColumns(batch, channels);
    const { streams } = engine.programs.runtime;
    const runs = perRun(this.cut(asReadBy(model, batch))(), streams, this.setup.tokenizer.pad);
    const passes = passesOver(engine, runs, channels);
    for (const run of runs) passes.score(run, channels, columns);
    return columns;
  }
  /** Channels `logp:<model>`. */
  private scoredByOthers(batch: Batch, channels: readonly Channel[]): Stats {
    const stats: ScoreColumns = {};
    for (const channel of channels) {
      const parsed = parseChannel(channel);
      if (parsed?.kind !== "logp_of") continue;
      const { logp } = this.scoredBy(parsed.model, batch, ["logp"]);
      if (logp !== undefined) stats[channel] = logp;
    }
    return { ...stats };
  }

  gradient(batch: Batch, plan: UpdatePlan, weigh: Weigh): Gradient {
    const { current } = this.weights;
    current.train();
    const engine = this.engineOf("policy", batch.contexts);
    for (const channel of plan.channels) checkChannel(channel, this.programs.parts);
    const others = this.scoredByOthers(batch, plan.channels);
    const cut = this.cut(batch);
    const clip = plan.per_sequence_clip;
    try {
      return clip === undefined
        ? gradientOf(engine, batch, plan, weigh, cut, others)
        : clippedGradientOf(engine, batch, plan, weigh, cut, others, current.trained, clip);
    } finally {
      this.weights.releaseMerged();
    }
  }

  /** One optimiser step. A gradient that is zero or not finite moves nothing. */
  update(batch: Batch, plan: UpdatePlan, weigh: Weigh): UpdateStats {
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
    const optimizer = this.optimizers.of(plan);
    if (folded === undefined) return report(0, optimizer.rate(scale), 1);
    try {
      const { norm, lr, applied } = optimizer.step(this.weights.current.trained, folded, scale, plan.noise);
      if (applied === undefined) return report(norm, 0, 1);
      this.weights.advance(applied);
      return report(norm, lr, 0);
    } finally {
      freeAll(folded);
    }
  }
}
