/** From advantages to a loss with its gradients: corrections, normaliser, objective, KL in the loss, entropy bonus. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { checkFinite } from "../../methods/objective/finite.ts";
import type { Clock, Model, Saved, Stateful } from "../../core/basics.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { Channel, Stats, Weigh, Weighed } from "../../core/policy.ts";
import type { Aggregate, HeadOf, Objective, TokenWeight } from "../../core/loss.ts";
import { create } from "../../core/create.ts";
import { objectiveOf } from "./objective.ts";
import { Corrections } from "./corrections.ts";
import { EntropyBonus, none, type Bonus } from "./entropyBonus.ts";
import { GuidedRatio } from "./guidedRatio.ts";
import type { LossKlTerm } from "./kl.ts";
import { fullChannel, KlLoss } from "./klLoss.ts";
import { hasContext } from "./klFactors.ts";
import { bothKept, MaskChain } from "./masks.ts";
import { aggregated, placeOf, reached, routeMetrics, routesOf, routeTouched, unmasked } from "./routes.ts";
import type { Advantages } from "../advantages/tokenAdvantages.ts";
import { Space } from "../space.ts";
import { tokenWeights } from "./tokenWeights.ts";
import { countsOf, tokensOf, type TokenColumn } from "../advantages/tokenColumn.ts";
import { Weighing, wholeFactors, type Ground, type Prepared } from "./weighing.ts";
import type { CreateContext } from "../../core/declaration.ts";
import type { Scores } from "../rewards/rewards.ts";

/** What `weigh` needs of one optimiser step, all columns of the mini-batch. */
export interface Update {
  /** Channels as they were: `logp` of the behaviour model, `logp:<model>` of others. */
  readonly old: Stats;
  readonly advantages: TokenColumn;
  readonly weights: TokenColumn;
  /** Rewards and successes of the mini-batch's rows, where they are known. */
  readonly scored?: Pick<Scores, "combined" | "success">;
  /** Per row, which losses it moves; default: the objective. */
  readonly routes?: Uint8Array | undefined;
  /** The weights' version that `now` will be of. */
  readonly version?: number;
  /** The caller is done with the derivatives before it weighs again: they may be written to the same place. */
  readonly reuse?: boolean;
}

/** What a loss asks of the engine. */
export interface LossNeeds {
  /** What a mini-batch must not split. */
  readonly unit: Objective["unit"];
  /** Channels that `policy.update` must build. */
  readonly channels: readonly Channel[];
  /** Models whose log-probs it reads (`old["logp:<model>"]`), for the reward and for the loss. */
  readonly models: readonly Model[];
  /** Those of them that only guided rollouts are compared with. */
  readonly guidedModels: readonly Model[];
  /** Models whose entropy at each token it reads (`old["entropy:<model>"]`). */
  readonly entropies: readonly Model[];
  /** Channels of the policy at the start of the step's updates. */
  readonly before: readonly Channel[];
  /** Models whose logits' log-sum-exp it reads (`old["logsumexp:<model>"]`). */
  readonly normalizers: readonly Model[];
  /** Heads of other models (`old["head:<head>@<model>"]`). */
  readonly heads: readonly HeadOf[];
  /** The model of `rowColumns.mismatched_log_ratio`. */
  readonly mismatched: Model | undefined;
}

/** A model whose log-probs every batch brings. */
const behaviour = "behaviour";

export class LossChain implements Stateful {
  private readonly objective: Objective;
  private readonly aggregate: Aggregate;
  readonly masks: MaskChain;
  private readonly tokenWeights: readonly TokenWeight[];
  private readonly corrections: Corrections;
  /** undefined: guidance helps no rollout. */
  readonly guidedRatio: GuidedRatio | undefined;
  private readonly bonus: EntropyBonus;
  private readonly space = new Space();
  private readonly rules: StageBody["route"];

  constructor(
    body: StageBody,
    private readonly kl: readonly LossKlTerm[],
    context: CreateContext,
  ) {
    this.guidedRatio = GuidedRatio.of(body, context);
    this.rules = body.route;
    const objective = objectiveOf(body.objective, context, body.route.length > 0);
    this.objective = this.guidedRatio?.over(objective) ?? objective;
    this.aggregate = create(body.objective.aggregate, context);
    this.masks = new MaskChain(body.mask, context);
    this.corrections = new Corrections(body.objective.correction, context);
    this.bonus = new EntropyBonus(body.objective.entropy);
    // Recorded advantages are final.
    this.tokenWeights =
      body.advantage.baseline.declaration.name === "given"
        ? []
        : body.advantage.token_weights.map((choice) => create(choice, context));
  }

  /**
   * Per row, where its route leads; undefined where the config has none. A rollout that is to be distilled, and on which no
   * entry can act because its model had no teacher context, stays with the objective.
   */
  routes(batch: Batch, success: Uint8Array | undefined, advantages: Advantages): Uint8Array | undefined {
    if (this.rules.length === 0) return undefined;
    const routes = routesOf(this.rules, batch, success, advantages.rows);
    const distilling = this.kl.flatMap(({ distils }) => distils ?? []);
    const can = (row: number): boolean =>
      distilling.some(({ teacher }) => teacher === undefined || hasContext(batch, row, teacher));
    return routes.map((place, row) => (place === placeOf("distil") && !can(row) ? placeOf("policy") : place));
  }

  /** What the loss asks of the engine at this moment of the run. */
  needs(clock: Clock): LossNeeds {
    const { objective, corrections, guidedRatio } = this;
    const { before = [], normalizers = [], heads = [], mismatched } = objective.needs ?? {};
    const active = this.kl.filter(({ coefficient }) => coefficient(clock) !== 0);
    const inLoss = active.filter(({ place }) => place === "loss");
    const compared = active.filter(({ estimator }) => estimator.full === undefined).map(({ model }) => model);
    const weighed = this.tokenWeights.flatMap(({ models = [] }) => models);
    const whole = [...(objective.models ?? []), ...corrections.models, ...weighed];
    const guided = guidedRatio?.models ?? [];
    const kl = inLoss.map((term): Channel => fullChannel(term) ?? "logp");
    const entropy: Channel[] = this.bonus.needed(clock) ? ["entropy"] : [];
    return {
      unit: objective.unit,
      channels: [...new Set([...objective.channels, ...kl, ...entropy, ...this.masks.channels])],
      models: [...new Set([...compared, ...whole, ...guided])].filter((model) => model !== behaviour),
      guidedModels: guided.filter(
        (model) => !whole.includes(model) && this.kl.every((term) => term.model !== model),
      ),
      entropies: [...new Set(active.filter((term) => term.entropy === true).map(({ model }) => model))],
      before,
      normalizers,
      heads,
      mismatched,
    };
  }

  /** Mask × token weighting; 0 where no advantage exists. `batch` is masked. */
  weights(batch: Batch, advantages: Advantages, stats: Stats, clock: Clock): TokenColumn {
    return tokenWeights(this.tokenWeights, batch, advantages, stats, clock);
  }

  weigh(update: Update, clock: Clock): Weigh {
    return (now, batch) => {
      const { old, scored, version, routes, reuse = false } = update;
      const ready = this.prepare(update, now, batch, clock);
      const { weights, correction } = ready;
      const success = scored?.success;
      const ground: Ground = {
        batch,
        now,
        old: this.guidedRatio?.anchored(batch, old, now, tokensOf(weights), success) ?? old,
        advantages: update.advantages,
        clock,
        ...(correction && { correction }),
        ...(version !== undefined && { version }),
        ...(routes && { routes }),
        ...(scored && { rewards: scored.combined, success: scored.success }),
      };
      const weighing = new Weighing(ground, ready, this.space, reuse);
      const kl = new KlLoss(this.kl, { batch, old, weights, success, routes, clock });
      weighing.add(this.objective, kl);
      const bonus = this.entropy(weighing, ground, ready, clock);
      const { loss, gradients, metrics, touched } = weighing.result;
      if (!Number.isFinite(loss)) refuse(loss, { now, old, weights: tokensOf(weights), batch });
      return {
        loss,
        gradients,
        metrics: {
          ...ready.metrics,
          ...metrics,
          ...entropyMetric(now, weights),
          ...kl.metrics(),
          ...bonus.metrics,
        },
        touched: { ...ready.touched, ...touched },
      };
    };
  }

  /** The entropy bonus: on the tokens that the objective moves, without corrections. */
  private entropy(weighing: Weighing, ground: Ground, ready: Prepared, clock: Clock): Bonus {
    if (!this.bonus.needed(clock)) return none;
    const into = this.space.column("factors", ground.batch.tokens.length);
    const factors = wholeFactors(ground, { ...ready, correction: undefined }, into);
    const bonus = this.bonus.of({ now: ground.now, weights: tokensOf(ready.weights), factors, clock });
    weighing.loss += bonus.loss;
    if (bonus.gradient !== undefined) add(weighing.gradients.of("entropy"), bonus.gradient);
    return bonus;
  }

  private prepare(
    update: Update,
    now: Stats,
    batch: Batch,
    clock: Clock,
  ): Prepared & Required<Pick<Weighed, "metrics" | "touched">> {
    const { routes, weights } = update;
    if (routes === undefined) return this.prepared(update, now, batch, clock);
    const left = unmasked(tokensOf(weights), batch, routes);
    const ready = this.prepared({ ...update, weights: left }, now, batch, clock);
    return {
      ...ready,
      kept: bothKept(ready.kept, reached(batch, routes)),
      metrics: { ...ready.metrics, ...routeMetrics(this.rules, routes) },
      touched: { ...ready.touched, ...routeTouched(batch, routes) },
    };
  }

  private prepared(
    { old, advantages, weights: given, version, routes }: Update,
    now: Stats,
    batch: Batch,
    clock: Clock,
  ): Prepared & Required<Pick<Weighed, "metrics" | "touched">> {
    const normalised = (weights: TokenColumn): Float64Array =>
      aggregated(this.aggregate, countsOf(weights, batch), batch, routes);
    if (this.corrections.none && this.masks.noneOfTheLoss) {
      const byRow = normalised(given);
      return { weights: given, byRow, kept: undefined, correction: undefined, metrics: {}, touched: {} };
    }
    const seen = {
      batch,
      now,
      old,
      advantages: tokensOf(advantages),
      clock,
      ...(version !== undefined && { version }),
    };
    const corrected = this.corrections.correct({ ...seen, weights: tokensOf(given) });
    const masked = this.masks.ofTheLoss({ ...seen, weights: corrected.weights });
    return {
      weights: masked.weights,
      byRow: normalised(masked.weights),
      kept: masked.kept,
      correction: corrected.factors,
      metrics: corrected.metrics,
      touched: { ...corrected.touched, ...masked.touched },
    };
  }

  /** Once an optimiser step, after it. */
  updated(): void {
    this.bonus.adaptive?.advance();
  }
  /** Once a step, after its updates: coefficients follow what was measured in it. */
  finished(): void {
    for (const { adaptive } of this.kl) adaptive?.advance();
  }
  /** Coefficients that follow what is measured, in the order of the config. */
  private get adaptive(): Stateful[] {
    return [...this.kl.map((term) => term.adaptive), this.bonus.adaptive].filter((one) => one !== undefined);
  }
  save(): Saved {
    return { json: this.adaptive.map((one) => one.save().json) };
  }
  load({ json }: Saved): void {
    const saved = Array.isArray(json) ? json : [];
    this.adaptive.forEach((one, i) => {
      const state = saved[i];
      if (state !== undefined) one.load({ json: state });
    });
  }
}

function add(into: Float64Array, values: Float64Array): void {
  for (let i = 0; i < into.length; i++) into[i]! += values[i]!;
}

/** Names the column that made the loss no number. */
function refuse(
  loss: number,
  { now, old, weights, batch }: { now: Stats; old: Stats; weights: Float64Array; batch: Batch },
): never {
  for (const [when, stats] of [
    ["", now],
    ["the earlier ", old],
  ] as const)
    for (const [channel, column] of Object.entries(stats))
      if (column !== undefined) checkFinite(`${when}${channel}`, column, weights, batch);
  throw new UserError(`the loss is ${loss}: a ratio of probabilities is too large to represent`, {
    code: "loss-not-finite",
    action: "Bound it with `objective.clamp_log_ratio` or the KL estimator's `clamp_log_ratio`, e.g. 20.",
  });
}

/** Mean over the tokens that train. */
function entropyMetric({ entropy }: Stats, column: TokenColumn): Record<string, number> {
  if (entropy === undefined) return {};
  const weights = tokensOf(column);
  let sum = 0;
  let count = 0;
  for (let i = 0; i < weights.length; i++) {
    if (weights[i] === 0) continue;
    sum += entropy[i]!;
    count += 1;
  }
  return count === 0 ? {} : { "policy/entropy": sum / count };
}
