/**
 * The algorithm, as pure functions of a stage's config: rewards → advantages → objective, and observe → estimate →
 * draw. The run's step, `gradus explain`, curriculum replay and live re-scoring all call it. Arithmetic is float64.
 */
import { z } from "zod";
import type { AdvantageChannel } from "../core/slots/advantage.ts";
import type { StageBody } from "../core/config/resolved.ts";
import type { KlTerm } from "../core/slots/kl.ts";
import type { Clock, Model, Saved, Stateful } from "../core/basics.ts";
import type { Batch, Group } from "../core/rollouts.ts";
import type { Channel, Stats, Weigh } from "../core/policy.ts";
import type { Combined, RewardColumn } from "../core/reward.ts";
import type { HeadOf } from "../core/loss.ts";
import { AdvantageChain } from "./advantages/advantages.ts";
import { describeCriteria } from "./rewards/criteria.ts";
import {
  describeAdvantages,
  describeGroups,
  describeRewards,
  describeRollouts,
  type Trained,
} from "./advantages/describe.ts";
import { apart, withGiven } from "./advantages/givenAdvantages.ts";
import { helps } from "../core/config/guidanceFacts.ts";
import { groupsOf } from "./rewards/groups.ts";
import { klTerms } from "./loss/kl.ts";
import { LossChain, type Update } from "./loss/loss.ts";
import { recordedAdvantages, type Advantages } from "./advantages/tokenAdvantages.ts";
import type { TokenColumn } from "./advantages/tokenColumn.ts";
import { RewardChain, type Scored } from "./rewards/rewards.ts";
import type { CreateContext } from "../core/declaration.ts";

export type { Advantages, Scored, Update };
export { Curriculum, type DrawnTask } from "./curriculum/curriculum.ts";
export { starvation } from "./curriculum/curriculumFaults.ts";
export { openSources } from "./curriculum/openSources.ts";
export { columnOf, outcome, rowValue } from "./rewards/rewards.ts";
export { describeMismatch, type Trained } from "./advantages/describe.ts";
export { advantagesOfRow, columnOfAdvantages, meanAdvantage } from "./advantages/advantageColumns.ts";
export { RowAdvantages } from "./advantages/overTokens.ts";
export { PerRow } from "./perRow.ts";
export {
  columnsInStretches,
  isNought,
  selectTokenColumn,
  timesRows,
  tokensOf,
  tokensOfRow,
  type TokenColumn,
} from "./advantages/tokenColumn.ts";
export { withReturns } from "./advantages/tokenAdvantages.ts";
export { create } from "../core/create.ts";

/** What the methods of a stage need from outside; `random` and models are added by the caller. */
export const contextOf = (
  body: StageBody,
  outside: Pick<CreateContext, "random" | "models" | "tokenizer">,
): CreateContext => ({
  ...outside,
  max_tokens: body.rollout.max_tokens,
  group: body.rollout.group,
  asking: { chat: body.rollout.chat, system: body.rollout.system },
  timeout: body.reward.timeout,
});

const beginning: Clock = { step: 0, stageStep: 0 };
const savedSchema = z.object({ advantage: z.json(), loss: z.json().optional() });

export class Algorithm implements Stateful {
  readonly kl: readonly KlTerm[];
  private readonly rewardChain: RewardChain;
  private readonly advantageChain: AdvantageChain;
  private readonly lossChain: LossChain;

  constructor(
    readonly body: StageBody,
    context: CreateContext,
  ) {
    const kl = klTerms(body.kl, context, body.update.epochs * body.replay.updates);
    this.kl = kl;
    this.rewardChain = new RewardChain(body.reward, context);
    this.advantageChain = new AdvantageChain(
      body.advantage,
      this.kl.filter(({ place }) => place === "reward"),
      context,
    );
    this.lossChain = new LossChain(body, kl, context);
  }

  /** The config takes recorded advantages: `recorded` instead of `advantages`. */
  get given(): boolean {
    return this.advantageChain.given;
  }
  get unit(): "sequence" | "pair" | "group" {
    return this.lossChain.unit;
  }
  /** The advantage needs one greedy response a task; its reward goes into `rowColumns.reward_baseline`. */
  get greedy(): boolean {
    return this.advantageChain.greedy;
  }
  /** The advantage needs continuations from the beginning of each step; their mean rewards go into `values`. */
  get branches(): AdvantageChain["branches"] {
    return this.advantageChain.branches;
  }
  /** Channels that must be scored, and put among the stats, before `advantages`. */
  get advantageChannels(): readonly AdvantageChannel[] {
    return this.advantageChain.channels;
  }
  /** Advantages come with `returns`: what the critic that they are computed with should have said. */
  get targets(): boolean {
    return this.advantageChain.targets;
  }
  /** Channels that `policy.update` must build. */
  channels(clock: Clock): Channel[] {
    return this.lossChain.channels(clock);
  }
  /** Channels of the policy, as it stands before the step's updates, that the objective reads. */
  get before(): readonly Channel[] {
    return this.lossChain.before;
  }
  /** The objective reads `mismatched_log_ratio` to this model. */
  get mismatched(): Model | undefined {
    return this.lossChain.mismatched;
  }
  /** Heads of other models that the objective reads (`old["head:<head>@<model>"]`). */
  get heads(): readonly HeadOf[] {
    return this.lossChain.heads;
  }
  /** Models whose log-probs the step needs (`old["logp:<model>"]`), for the reward and for the loss. */
  models(clock: Clock): Model[] {
    return this.lossChain.models(clock);
  }
  /** Those of them that only helped rows are compared with. */
  get guided(): readonly Model[] {
    return this.lossChain.guidedModels;
  }
  /** Of the tokens that train, those that count against the log-probs of whoever wrote them. */
  unhelped(batch: Batch, trained: Uint8Array): Uint8Array {
    return this.lossChain.unhelped(batch, trained);
  }
  /** A step's rows, of which those given train, with what these were, where the ratio of help reads it. */
  told(batch: Batch, success: Uint8Array, rows: readonly number[]): Batch {
    return this.lossChain.told(batch, success, rows);
  }
  /** Models whose entropy at each token the step needs (`old["entropy:<model>"]`). */
  entropies(clock: Clock): Model[] {
    return this.lossChain.entropies(clock);
  }

  /** Mask slot. Do this first: rewards with a KL penalty and advantages read the mask. */
  masked(batch: Batch, stats: Stats = {}): Batch {
    return this.lossChain.masks.masked(batch, stats);
  }
  /** Tokens that each mask takes from an unmasked batch, by the mask's name. */
  maskedBy(batch: Batch, stats: Stats = {}): Record<string, Uint8Array> {
    return this.lossChain.masks.takenFrom(batch, stats);
  }
  /** Terms, in the config's order, to a combined reward and success per row. */
  rewards(terms: readonly RewardColumn[], batch: Batch, clock: Clock): Scored {
    return this.rewardChain.rewards(terms, batch, clock);
  }
  /**
   * @param stats columns of generation, `logp` and `logp:<model>` for a KL penalty on the reward, and `advantageChannels`
   * @param reuse the caller is done with them before it asks so again: they may be written to the same place
   */
  advantages(combined: Combined, batch: Batch, stats: Stats, clock: Clock, reuse = false): Advantages {
    const { guidance } = this.body;
    const own = helps(guidance) && guidance.given_advantage === "own";
    const found = this.advantageChain.advantages(combined, own ? apart(batch) : batch, stats, clock, reuse);
    return own ? withGiven(found, combined, batch) : found;
  }
  /** Recorded advantages per token; NaN where a token has none. */
  recorded(values: Float64Array, batch: Batch): Advantages {
    return recordedAdvantages(values, batch);
  }
  /** Once a step, after its advantages: what remembers earlier steps learns from this one. */
  observe(combined: Combined, batch: Batch): void {
    this.advantageChain.observe(combined, batch);
  }
  save(): Saved {
    return { json: { advantage: this.advantageChain.save().json, loss: this.lossChain.save().json } };
  }
  load({ json }: Saved): void {
    const { advantage, loss } = savedSchema.parse(json);
    this.advantageChain.load({ json: advantage });
    if (loss !== undefined) this.lossChain.load({ json: loss });
  }
  groups(batch: Batch, scored: Scored, advantages?: Advantages): Group[] {
    return groupsOf(batch, scored, advantages);
  }
  /** Mask × token weighting, 0 where nothing trains. */
  tokenWeights(batch: Batch, advantages: Advantages, stats: Stats = {}, clock = beginning): TokenColumn {
    return this.lossChain.weights(batch, advantages, stats, clock);
  }
  /** Per row, which losses it moves, by the config's routes; undefined: all the objective. */
  routes(batch: Batch, success: Uint8Array | undefined, advantages: Advantages): Uint8Array | undefined {
    return this.lossChain.routes(batch, success, advantages);
  }
  /** Objective + KL in the loss + entropy bonus, for `policy.update`. All columns are those of the batch it is given. */
  weigh(update: Update, clock: Clock): Weigh {
    return this.lossChain.weigh(update, clock);
  }
  /** Once an optimiser step, after it. */
  updated(): void {
    this.lossChain.updated();
  }
  /** Once a step, after its updates: coefficients follow what was measured in it. */
  finished(): void {
    this.lossChain.finished();
  }
  /** The metrics that follow from rewards and advantages. @param trained the rows of the batch that train */
  describe(batch: Batch, scored: Scored, trained: Trained, groups: readonly Group[]): Record<string, number> {
    return {
      // A criterion may be called `errors` or `weight`: these names are the term's own.
      ...describeCriteria(scored.rewards.terms, batch),
      ...describeRewards(scored),
      ...describeAdvantages(trained),
      ...describeGroups(groups),
      ...describeRollouts(batch),
    };
  }
}
