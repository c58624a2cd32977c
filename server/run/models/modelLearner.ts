/** A learner of `auxiliary`: a model with an objective, a memory of rollouts and updates of its own. */
import { withReturns } from "../../algorithm/advantages/tokenAdvantages.ts";
import { miniBatches, selectRows } from "../../core/rows/batch.ts";
import type { AuxiliaryConfig } from "../../core/config/resolved.ts";
import { learnerObjective } from "../../algorithm/loss/learnerObjective.ts";
import { normalised } from "../../methods/reward/models/lesson.ts";
import { randomStream, type Random } from "../../lib/random.ts";
import { withoutReplacement } from "../../methods/replay/draws/drawing.ts";
import { Memory } from "../../methods/replay/memory.ts";
import type { Auxiliary } from "../../core/slots/auxiliary.ts";
import type { Saved, Stateful } from "../../core/basics.ts";
import type { Batch } from "../../core/rollouts.ts";
import { readerOf, type Channel, type Stats, type UpdatePlan, type UpdateStats } from "../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../core/loss.ts";
import type { Admitted, StepContext } from "../step/context.ts";
import { joinColumns, selectScored } from "../step/score/rewardColumns.ts";
import { drawnActions } from "./drawnActions.ts";
import { isDue, measured, times, weightOf } from "./learning.ts";
import { criticColumns } from "../step/score/criticValues.ts";
import { headsOf } from "../step/score/modelScores.ts";
import { shuffledRows } from "../step/update/policyUpdates.ts";
import { selectStats, type Training } from "../step/update/training.ts";
import { keptRow, replayedBatch } from "../step/replay/keptRows.ts";
import type { CreateContext } from "../../core/declaration.ts";

type LearnerLoss = Extract<Auxiliary, { kind: "learner" }>;
type Scored = Pick<Admitted["scored"], "combined" | "success">;
type Lesson = Omit<ObjectiveInput, "now">;

export class ModelLearner implements Stateful {
  private readonly objective: Objective;
  readonly memory: Memory;

  /**
   * @param index place in the config's list
   * @param metric what metrics call it: its model, numbered where several learners move one model
   */
  constructor(
    readonly name: string,
    private readonly metric: string,
    private readonly index: number,
    readonly loss: LearnerLoss,
    readonly config: AuxiliaryConfig,
    context: CreateContext,
  ) {
    this.objective = learnerObjective(config, context);
    this.memory = new Memory(loss.capacity, undefined);
  }

  /** Remembers the step's rollouts and learns from what it remembers. @returns metrics, by their names */
  async learn(context: StepContext, admitted: Admitted): Promise<Record<string, number>> {
    if (this.loss.rollouts !== "memory") return {};
    this.remember(context, admitted);
    const weight = weightOf(context, this.config, this.index);
    if (weight === 0 || !isDue(context, this.config)) return {};
    const done: UpdateStats[] = [];
    for (let round = 0; round < this.loss.updates; round++) {
      context.session.signal.throwIfAborted();
      const update = await this.update(context, round, weight);
      if (update !== undefined) done.push(update);
    }
    return { [`learner/${this.metric}/remembered`]: this.memory.rows.length, ...measured(this.metric, done) };
  }

  /**
   * Learns from the rollouts of the step that train, all of them in each round. What it compares with, and what a critic
   * should have said, stay what they were before its first update.
   */
  async fit(context: StepContext, { batch, scored }: Training): Promise<Record<string, number>> {
    const weight = weightOf(context, this.config, this.index);
    if (this.loss.rollouts !== "step" || weight === 0 || !isDue(context, this.config)) return {};
    const old = await this.old(context, batch, 0);
    const done: UpdateStats[] = [];
    for (let round = 0; round < this.loss.updates; round++) {
      const order = shuffledRows(batch.rows, this.random(context, round));
      for (const part of miniBatches(selectRows(batch, order), this.loss.rows, this.objective.unit)) {
        context.session.signal.throwIfAborted();
        const rows = part.map((row) => order[row]!);
        const own = [
          selectRows(batch, rows),
          selectStats(old, batch, rows),
          selectScored(scored, rows),
        ] as const;
        const input = this.input(context, ...own);
        if (input.weights.some((one) => one !== 0)) done.push(await this.move(context, input, weight));
      }
    }
    return measured(this.metric, done);
  }

  private random({ session, step }: StepContext, round: number): Random {
    return randomStream(session.config.seed, "learner", this.name, step, round);
  }

  private remember({ clock, step }: StepContext, admitted: Admitted): void {
    const { batch, scored } = admitted;
    const none = new Float64Array(batch.tokens.length).fill(Number.NaN);
    const unknown = { tokens: none, rows: none, exists: new Uint8Array(none.length) };
    const rows = [...batch.records.keys()].filter(
      (row) => scored.combined.errored[row] === 0 && batch.offsets[row]! < batch.offsets[row + 1]!,
    );
    this.memory.keep(
      rows.map((row) => keptRow(admitted, unknown, row, clock.step, `${step}/${batch.group[row]}`)),
      () => true,
      clock.step,
    );
  }

  /** One update on rollouts drawn from the memory. */
  private async update(
    context: StepContext,
    round: number,
    weight: number,
  ): Promise<UpdateStats | undefined> {
    const kept = this.memory.rows;
    const rows = withoutReplacement([...kept.keys()], this.loss.rows, this.random(context, round)).map(
      (at) => kept[at]!,
    );
    if (rows.length === 0) return undefined;
    const { algorithm } = context.stage;
    const batch = algorithm.masked(replayedBatch(rows, context.session.policy.version));
    const scored = algorithm.rewards(joinColumns(rows.map(({ terms }) => terms)), batch, context.clock);
    if (this.weights(batch, scored).every((one) => one === 0)) return undefined;
    const old = await this.old(context, batch, round);
    const aimed = await this.withTargets(context, batch, scored.combined, old);
    return await this.move(context, this.input(context, aimed, old, scored), weight);
  }

  private move({ session }: StepContext, input: Lesson, weight: number): Promise<UpdateStats> {
    const plan: UpdatePlan = { channels: this.objective.channels, unit: this.objective.unit };
    return session.models.get(this.loss.model).update(input.batch, plan, (now) => {
      const { loss, gradients, ...about } = this.objective.loss({ ...input, now });
      return { loss: weight * loss, gradients: times(gradients, weight), ...about };
    });
  }

  /** 1 on tokens that train, 0 on rows without a reward. */
  private weights({ mask, offsets }: Batch, { combined }: Scored): Float64Array {
    const weights = Float64Array.from(mask);
    combined.total.forEach((total, row) => {
      if (Number.isNaN(total)) weights.fill(0, offsets[row], offsets[row + 1]);
    });
    return weights;
  }

  private input({ clock }: StepContext, batch: Batch, old: Stats, scored: Scored): Lesson {
    const weights = this.weights(batch, scored);
    return {
      batch,
      old,
      weights,
      factors: normalised(weights, batch, this.loss.each),
      advantages: new Float64Array(weights.length),
      rewards: scored.combined,
      success: scored.success,
      clock,
    };
  }

  /** What the objective reads of other models, and of its own before this update. */
  private async old(context: StepContext, batch: Batch, round: number): Promise<Stats> {
    const { models: others = [], needs: { before = [], heads = [], redrawn } = {} } = this.objective;
    const { models } = context.session;
    const columns: Partial<Record<Channel, Float64Array>> = {};
    if (batch.columns.logp_old !== undefined) columns.logp = batch.columns.logp_old;
    for (const model of others) {
      const { logp } = await readerOf(models, model).score(batch, { model, channels: ["logp"] });
      if (logp !== undefined) columns[`logp:${model}`] = logp;
    }
    Object.assign(columns, await headsOf(models, heads, batch));
    if (redrawn !== undefined)
      Object.assign(columns, await drawnActions(context, batch, redrawn, [this.name, round]));
    if (before.length === 0) return columns;
    const own = await models.get(this.loss.model).score(batch, { model: this.loss.model, channels: before });
    return { ...columns, ...own };
  }

  /** With what a critic should have said, where the advantages are a critic's; recorded returns are of older ones. */
  private async withTargets(
    context: StepContext,
    { columns: { returns: _, ...columns }, ...rest }: Batch,
    combined: ObjectiveInput["rewards"] & object,
    old: Stats,
  ): Promise<Batch> {
    const batch = { ...rest, columns };
    const { algorithm } = context.stage;
    if (!algorithm.returnsTargets) return batch;
    const stats = { ...old, ...(await criticColumns(context, batch)) };
    return withReturns(batch, algorithm.advantages(combined, batch, stats, context.clock));
  }

  save(): Saved {
    return this.memory.save();
  }
  load(saved: Saved): void {
    this.memory.load(saved);
  }
}
