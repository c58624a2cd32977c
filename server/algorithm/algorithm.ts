/**
 * The algorithm, as pure functions of a stage's config: rewards → advantages → objective, and observe → estimate →
 * draw. The run's step, `gradus explain`, curriculum replay and live re-scoring all call it. Arithmetic is float64.
 */
import { z } from "zod";
import type { StageBody } from "../core/config/resolved.ts";
import type { KlTerm } from "../core/slots/kl.ts";
import type { Clock, Saved, Stateful } from "../core/basics.ts";
import type { Batch } from "../core/rollouts.ts";
import type { Stats, Weigh } from "../core/policy.ts";
import type { Combined, RewardColumn } from "../core/reward.ts";
import { sharedByParts } from "./advantages/sharedByParts.ts";
import { AdvantageChain, type AdvantageNeeds } from "./advantages/advantages.ts";
import { apart, withGiven } from "./advantages/givenAdvantages.ts";
import { helps } from "../core/config/guidanceFacts.ts";
import { klTerms } from "./loss/kl.ts";
import type { GuidedRatio } from "./loss/guidedRatio.ts";
import { LossChain, type LossNeeds, type Update } from "./loss/loss.ts";
import type { Advantages } from "./advantages/tokenAdvantages.ts";
import type { TokenColumn } from "./advantages/tokenColumn.ts";
import { RewardChain, type Scores } from "./rewards/rewards.ts";
import type { CreateContext } from "../core/declaration.ts";

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
  ...(body.sandbox !== undefined && { sandbox: body.sandbox }),
});

const beginning: Clock = { step: 0, stageStep: 0 };
const savedSchema = z.object({ advantage: z.json(), loss: z.json().optional() });

export class Algorithm implements Stateful {
  readonly kl: readonly KlTerm[];
  /** The config takes recorded advantages: `recordedAdvantages` instead of `advantages`. */
  readonly takesRecorded: boolean;
  private readonly rewardChain: RewardChain;
  private readonly advantageChain: AdvantageChain;
  private readonly lossChain: LossChain;

  constructor(
    readonly body: StageBody,
    context: CreateContext,
  ) {
    const kl = klTerms(body.kl, context, body.update.epochs * body.replay.updates);
    this.kl = kl;
    this.takesRecorded = body.advantage.baseline.declaration.name === "given";
    this.rewardChain = new RewardChain(body.reward, context);
    this.advantageChain = new AdvantageChain(
      body.advantage,
      this.kl.filter(({ place }) => place === "reward"),
      context,
    );
    this.lossChain = new LossChain(body, kl, context);
  }

  /** What a step has to generate, score and build for the algorithm at this moment of the run. */
  needs(clock = beginning): AdvantageNeeds & LossNeeds {
    return { ...this.advantageChain.needs, ...this.lossChain.needs(clock) };
  }
  /** Advantages come with `returns`: the targets of the critic that they are computed with. */
  get returnsTargets(): boolean {
    return this.advantageChain.returnsTargets;
  }
  /** undefined: guidance helps no rollout. */
  get guidedRatio(): GuidedRatio | undefined {
    return this.lossChain.guidedRatio;
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
  rewards(terms: readonly RewardColumn[], batch: Batch, clock: Clock): Scores {
    return this.rewardChain.rewards(terms, batch, clock);
  }
  /**
   * @param stats columns of generation, `logp` and `logp:<model>` for a KL penalty on the reward, and what `needs` calls `scores`
   * @param reuse the caller is done with them before it asks so again: they may be written to the same place
   */
  advantages(combined: Combined, batch: Batch, stats: Stats, clock: Clock, reuse = false): Advantages {
    const { guidance } = this.body;
    const own = helps(guidance) && guidance.given_advantage === "own";
    const found = this.advantageChain.advantages(combined, own ? apart(batch) : batch, stats, clock, reuse);
    return sharedByParts(own ? withGiven(found, combined, batch) : found, batch);
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
}
