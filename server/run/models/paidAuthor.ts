/** An author of `auxiliary`: a model that writes the step's tasks and learns from what they earned. */
import { authorObjective } from "../../algorithm/loss/authorObjective.ts";
import type { AuxiliaryConfig } from "../../core/config/resolved.ts";
import type { CreateContext } from "../../core/declaration.ts";
import type { Objective, ObjectiveInput } from "../../core/loss.ts";
import { readerOf, type Channel, type Stats, type UpdateStats } from "../../core/policy.ts";
import type { Batch, Group } from "../../core/rollouts.ts";
import { rowsOfGroups } from "../../core/rows/batch.ts";
import type { Auxiliary } from "../../core/slots/auxiliary.ts";
import { normalised } from "../../methods/reward/models/lesson.ts";
import { deviation, mean, scaled } from "../../methods/advantage/spread.ts";
import { outcome } from "../../algorithm/rewards/rewards.ts";
import type { Admitted, AuthorTexts, StepContext } from "../step/context.ts";
import { concatenate } from "../step/generate/assemble.ts";
import { isDue, measured, times, weightOf } from "./learning.ts";

type AuthorLoss = Extract<Auxiliary, { kind: "author" }>;
type Lesson = Omit<ObjectiveInput, "now">;

export class PaidAuthor {
  private readonly objective: Objective;
  /** Of one step. */
  private texts: AuthorTexts[] = [];

  /**
   * @param index place in the config's list
   * @param metric what metrics call it: its model, numbered where several entries train one model
   */
  constructor(
    private readonly metric: string,
    private readonly index: number,
    readonly loss: AuthorLoss,
    private readonly config: AuxiliaryConfig,
    context: CreateContext,
  ) {
    this.objective = authorObjective(config, loss, context);
  }

  wrote(texts: AuthorTexts): void {
    this.texts = [...this.texts.filter(({ step }) => step === texts.step), texts];
  }

  /** Pays what was written in the step, and learns from it. @returns metrics, by their names */
  async learn(context: StepContext, { groups }: Pick<Admitted, "groups">): Promise<Record<string, number>> {
    const written = this.texts.filter(({ step }) => step === context.step);
    this.texts = [];
    const [first, ...rest] = written.map(({ batch }) => batch);
    if (first === undefined) return {};
    const batch = concatenate([first, ...rest]);
    const pays = paysOf(written, groups, this.loss);
    const told = { ...this.measure(written, groups, pays) };
    const weight = weightOf(context, this.config, this.index);
    const lesson = await this.lesson(context, batch, pays);
    if (weight === 0 || !isDue(context, this.config) || lesson.weights.every((one) => one === 0)) return told;
    const done: UpdateStats[] = [];
    for (let round = 0; round < this.loss.updates; round++) {
      context.session.signal.throwIfAborted();
      done.push(await this.move(context, lesson, weight));
    }
    return { ...told, ...measured(this.metric, done) };
  }

  private move({ session }: StepContext, lesson: Lesson, weight: number): Promise<UpdateStats> {
    const plan = { channels: this.objective.channels, unit: this.objective.unit };
    return session.models.get(this.loss.model).update(lesson.batch, plan, (now) => {
      const { loss, gradients, ...about } = this.objective.loss({ ...lesson, now });
      return { loss: weight * loss, gradients: times(gradients, weight), ...about };
    });
  }

  private async lesson(context: StepContext, batch: Batch, pays: Float64Array): Promise<Lesson> {
    const weights = Float64Array.from(batch.mask);
    // Losses that compare texts have nothing to say of a request whose texts earned alike.
    const alike = this.objective.unit === "sequence" ? [] : rowsAlike(batch, pays);
    for (const row of [...pays.keys()].filter((one) => Number.isNaN(pays[one]!)).concat(alike))
      weights.fill(0, batch.offsets[row], batch.offsets[row + 1]);
    return {
      batch,
      old: await this.old(context, batch),
      weights,
      factors: normalised(weights, batch, this.loss.each),
      advantages: advantagesOf(batch, pays, this.loss.epsilon),
      rewards: { sources: [], total: pays, errored: new Uint8Array(batch.rows) },
      success: new Uint8Array(batch.rows).fill(outcome.unknown),
      clock: context.clock,
    };
  }

  /** What the objective reads of the weights that wrote, and of other models. */
  private async old({ session: { models } }: StepContext, batch: Batch): Promise<Stats> {
    const { logp_old: logp } = batch.columns;
    const columns: Partial<Record<Channel, Float64Array>> = logp === undefined ? {} : { logp };
    const { models: others = [], needs: { before = [] } = {} } = this.objective;
    if (before.length > 0) {
      const { model } = this.loss;
      Object.assign(columns, await models.get(model).score(batch, { model, channels: before }));
    }
    for (const model of others) {
      const other = await readerOf(models, model).score(batch, { model, channels: ["logp"] });
      if (other.logp !== undefined) columns[`logp:${model}`] = other.logp;
    }
    return columns;
  }

  private measure(
    written: readonly AuthorTexts[],
    groups: readonly Group[],
    pays: Float64Array,
  ): Record<string, number> {
    const paid = [...pays.keys()].filter((row) => !Number.isNaN(pays[row]!));
    const known = new Set<string | null | undefined>(groups.map(({ task }) => task.id));
    const refused = tasksOf(written).filter((task) => task !== null && !known.has(task)).length;
    return {
      [`learner/${this.metric}/texts`]: pays.length,
      [`learner/${this.metric}/refused`]: refused / pays.length,
      ...(paid.length > 0 && { [`learner/${this.metric}/pay`]: mean(pays, paid) }),
    };
  }
}

/** Of each text, in the order of the batches; null: evaluation asks it; undefined: there is none in the text. */
const tasksOf = (written: readonly AuthorTexts[]): (string | null | undefined)[] =>
  written.flatMap(({ batch, tasks }) => Array.from({ length: batch.rows }, (_, row) => tasks.get(row)));

/** What a task's rollouts pay; NaN: none of them could be scored. */
function earnedBy({ rewards, successes }: Group, { pays }: Pick<AuthorLoss, "pays">): number {
  if (rewards.length === 0) return Number.NaN;
  return pays === "reward" ? mean(rewards, [...rewards.keys()]) : 1 - successes / rewards.length;
}

/** One number a text, in the order of the batches; NaN: it does not train. */
export function paysOf(
  written: readonly AuthorTexts[],
  groups: readonly Group[],
  how: Pick<AuthorLoss, "pays" | "refused">,
): Float64Array {
  const earned = new Map(groups.map((group) => [group.task.id, earnedBy(group, how)]));
  return Float64Array.from(tasksOf(written), (task) => {
    if (task === null) return Number.NaN;
    return task === undefined ? how.refused : (earned.get(task) ?? how.refused);
  });
}

/** Rows of each request that have earned something. */
const paidRows = (batch: Batch, pays: Float64Array): number[][] =>
  rowsOfGroups(batch).map((rows) => rows.filter((row) => !Number.isNaN(pays[row]!)));

const rowsAlike = (batch: Batch, pays: Float64Array): number[] =>
  paidRows(batch, pays).flatMap((rows) => (rows.every((row) => pays[row] === pays[rows[0]!]) ? rows : []));

/**
 * Per token, what its text earned less what the request's texts earn on average, over their standard deviation (divisor n).
 * @param epsilon undefined: no deviation divides
 */
export function advantagesOf(batch: Batch, pays: Float64Array, epsilon: number | undefined): Float64Array {
  const advantages = new Float64Array(batch.tokens.length);
  for (const rows of paidRows(batch, pays)) {
    const [middle, spread] = [mean(pays, rows), deviation(pays, rows, true)];
    for (const row of rows) {
      const centred = pays[row]! - middle;
      const value = epsilon === undefined ? centred : scaled(centred, spread, epsilon);
      advantages.fill(value, batch.offsets[row], batch.offsets[row + 1]);
    }
  }
  return advantages;
}
