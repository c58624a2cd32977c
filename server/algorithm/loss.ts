/** From advantages to a loss with its gradients: corrections, normaliser, objective, KL in the loss, entropy bonus. */
import { UserError } from "../../shared/errors.ts";
import type { CreateContext, StageBody } from "../config/resolved.ts";
import { checkFinite } from "../objective/finite.ts";
import type {
  Aggregate,
  Batch,
  Channel,
  Clock,
  Model,
  Objective,
  Saved,
  Stateful,
  Stats,
  TokenWeight,
  Weigh,
} from "../seams.ts";
import { create } from "./create.ts";
import { objectiveOf } from "./objective.ts";
import { Corrections } from "./corrections.ts";
import { EntropyBonus } from "./entropyBonus.ts";
import type { LossKlTerm } from "./kl.ts";
import { fullChannel, klLoss } from "./klLoss.ts";
import { MaskChain, onlyWhere } from "./masks.ts";
import type { Advantages } from "./advantages.ts";
import { tokenWeights } from "./tokenWeights.ts";
import type { Scored } from "./rewards.ts";

/** What `weigh` needs of one optimiser step, all columns of the mini-batch. */
export interface Update {
  /** Channels as they were: `logp` of the behaviour model, `logp:<model>` of others. */
  readonly old: Stats;
  readonly advantages: Float64Array;
  readonly weights: Float64Array;
  /** Rewards and successes of the mini-batch's rows, where they are known. */
  readonly scored?: Pick<Scored, "combined" | "success">;
  /** The weights' version that `now` will be of. */
  readonly version?: number;
  /** The caller is done with the derivatives before it weighs again: they may be written to the same place. */
  readonly reuse?: boolean;
}

/** What one optimiser step's objective is computed from, the masks of the loss and the corrections applied. */
interface Prepared {
  /** Of the tokens that train. */
  readonly weights: Float64Array;
  /** What the normaliser makes of them. */
  readonly counted: Float64Array;
  /** Those of the tokens that the objective moves. */
  readonly moved: Float64Array;
  readonly correction: Float64Array | undefined;
  readonly metrics: Readonly<Record<string, number>>;
  readonly touched: Readonly<Record<string, Uint8Array>>;
}

/** A model whose log-probs every batch brings. */
const behaviour = "behaviour";

export class LossChain implements Stateful {
  private readonly objective: Objective;
  private readonly aggregate: Aggregate;
  readonly masks: MaskChain;
  private readonly tokenWeights: readonly TokenWeight[];
  private readonly corrections: Corrections;
  private readonly bonus: EntropyBonus;
  private factors = new Float64Array(0);
  private gradient = new Float64Array(0);

  constructor(
    body: StageBody,
    private readonly kl: readonly LossKlTerm[],
    context: CreateContext,
  ) {
    this.objective = objectiveOf(body.objective, context);
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

  get unit(): Objective["unit"] {
    return this.objective.unit;
  }

  /** Channels of the policy that the objective reads in `old`, beside `logp`. */
  get before(): readonly Channel[] {
    return this.objective.before ?? [];
  }

  private active(clock: Clock): LossKlTerm[] {
    return this.kl.filter(({ place, coefficient }) => place === "loss" && coefficient(clock) !== 0);
  }

  /** The channels an update has to build at this moment. */
  channels(clock: Clock): Channel[] {
    const kl = this.active(clock).map((term): Channel =>
      term.estimator.full === true ? fullChannel(term) : "logp",
    );
    const entropy: Channel[] = this.bonus.needed(clock) ? ["entropy"] : [];
    return [...new Set([...this.objective.channels, ...kl, ...entropy, ...this.masks.channels])];
  }

  /** Models whose log-probs objective, corrections and KL terms compare with. */
  models(clock: Clock): Model[] {
    const kl = this.kl.filter(
      ({ estimator, coefficient }) => estimator.full !== true && coefficient(clock) !== 0,
    );
    const all = [
      ...kl.map(({ model }) => model),
      ...(this.objective.models ?? []),
      ...this.corrections.models,
    ];
    return [...new Set(all)].filter((model) => model !== behaviour);
  }

  /** Models whose entropy at each token KL terms are weighed by. */
  entropies(clock: Clock): Model[] {
    const asked = this.kl.filter(({ entropy, coefficient }) => entropy === true && coefficient(clock) !== 0);
    return [...new Set(asked.map(({ model }) => model))];
  }

  /** Mask × token weighting; 0 where no advantage exists. `batch` is masked. */
  weights(batch: Batch, advantages: Advantages, stats: Stats, clock: Clock): Float64Array {
    return tokenWeights(this.tokenWeights, batch, advantages, stats, clock);
  }

  weigh(update: Update, clock: Clock): Weigh {
    return (now, batch) => {
      const { old, advantages, scored, version } = update;
      const ready = this.prepare(update, now, batch, clock);
      const { weights, counted, correction } = ready;
      const factors = multiplied(ready.moved, this.objective.corrects === true ? undefined : correction);
      const own = this.objective.loss({
        batch,
        now,
        old,
        advantages,
        weights,
        factors,
        clock,
        ...(correction && { correction }),
        ...(update.reuse === true && { gradient: this.blank(weights.length) }),
        ...(version !== undefined && { version }),
        ...(scored && { rewards: scored.combined, success: scored.success }),
      });
      const gradients = { ...own.gradients };
      // An objective's derivatives are its own arrays: terms are added in place.
      const gradient = (channel: Channel): Float64Array =>
        (gradients[channel] ??= new Float64Array(weights.length));
      const success = scored?.success;
      const kl = klLoss(this.kl, { batch, now, old, weights, factors: counted, success, clock }, gradient);
      const bonus = this.bonus.of({ now, weights, factors: ready.moved, clock });
      if (bonus.gradient !== undefined) add(gradient("entropy"), bonus.gradient);
      const loss = own.loss + kl.loss + bonus.loss;
      if (!Number.isFinite(loss)) refuse(loss, { now, old, weights, batch });
      return {
        loss,
        gradients,
        metrics: {
          ...ready.metrics,
          ...own.metrics,
          ...entropyMetric(now, weights),
          ...kl.metrics,
          ...bonus.metrics,
        },
        touched: { ...ready.touched, ...own.touched },
      };
    };
  }

  private prepare(
    { old, advantages, weights: given, version }: Update,
    now: Stats,
    batch: Batch,
    clock: Clock,
  ): Prepared {
    const seen = { batch, now, old, advantages, clock, ...(version !== undefined && { version }) };
    const corrected = this.corrections.correct({ ...seen, weights: given });
    const masked = this.masks.ofTheLoss({ ...seen, weights: corrected.weights });
    const { weights, kept } = masked;
    // Fresh pages cost more than the loss itself: the factors of one step after the other go to the same place.
    if (this.factors.length !== weights.length) this.factors = new Float64Array(weights.length);
    const counted = this.aggregate(weights, batch, this.factors);
    return {
      weights,
      counted,
      moved: kept === undefined ? counted : onlyWhere(counted, kept),
      correction: corrected.factors,
      metrics: corrected.metrics,
      touched: { ...corrected.touched, ...masked.touched },
    };
  }

  /** The place of the last derivatives, cleared. */
  private blank(size: number): Float64Array {
    if (this.gradient.length !== size) this.gradient = new Float64Array(size);
    return this.gradient.fill(0);
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

/** Element by element; the first as it is where there is no second. */
function multiplied(factors: Float64Array, by: Float64Array | undefined): Float64Array {
  if (by === undefined) return factors;
  const result = new Float64Array(factors.length);
  for (let i = 0; i < result.length; i++) if (factors[i] !== 0) result[i] = factors[i]! * by[i]!;
  return result;
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
  throw new UserError(`the loss is ${loss}: some ratio of probabilities is too large for a number`, {
    code: "loss-not-finite",
    action: "Bound it with `objective.clamp_log_ratio` or the KL estimator's `clamp_log_ratio`, e.g. 20.",
  });
}

/** Mean over the tokens that train. */
function entropyMetric({ entropy }: Stats, weights: Float64Array): Record<string, number> {
  if (entropy === undefined) return {};
  let [sum, count] = [0, 0];
  for (let i = 0; i < weights.length; i++) {
    if (weights[i] === 0) continue;
    sum += entropy[i]!;
    count += 1;
  }
  return count === 0 ? {} : { "policy/entropy": sum / count };
}
