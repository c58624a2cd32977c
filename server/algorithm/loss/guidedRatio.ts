/** The ratio of helped rollouts: what their tokens count against, and the loss that replaces the objective on some. */
import { UserError } from "../../../shared/lib/errors.ts";
import { givenTrains, helps } from "../../core/config/guidanceFacts.ts";
import type { GuidanceConfig, StageBody } from "../../core/config/resolved.ts";
import { selectRows } from "../../core/rows/batch.ts";
import type { StepMixture } from "../../core/help.ts";
import type { GuidanceRatio, GuidedToken, TokenLoss } from "../../core/slots/guidance.ts";
import type { Model } from "../../core/basics.ts";
import { origin, type Batch } from "../../core/rollouts.ts";
import type { Stats, Weighed } from "../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../core/loss.ts";
import { create } from "../../core/create.ts";
import { outcome } from "../rewards/rewards.ts";
import type { CreateContext } from "../../core/declaration.ts";

const helpedSources: readonly string[] = ["guided", "teacher", "dataset"];
const isHelped = ({ records }: Batch, row: number): boolean => helpedSources.includes(records[row]!.source);

const none: StepMixture = { explored: 0, errors: 0 };

/** The rows of one optimiser step. `mixture`: of rows that have not kept what their step was. */
interface OptimizerStepRows {
  readonly batch: Batch;
  readonly old: Stats;
  readonly now: Stats;
  readonly weights: Float64Array;
  readonly mixture: StepMixture;
}

/** What rows were, and what became of the plain ones of them. */
function mixtureOf(batch: Batch, success: Uint8Array | undefined): StepMixture {
  let [helped, right, wrong] = [0, 0, 0];
  for (let row = 0; row < batch.rows; row++) {
    if (isHelped(batch, row)) helped += 1;
    else if (success?.[row] === outcome.right) right += 1;
    else if (success?.[row] === outcome.wrong) wrong += 1;
  }
  return { explored: helped / Math.max(1, batch.rows), errors: wrong / Math.max(1, wrong + right) };
}

export class GuidedRatio {
  private readonly ratio: GuidanceRatio;
  readonly models: readonly Model[];

  private constructor(
    private readonly config: GuidanceConfig,
    weighed: boolean,
    context: CreateContext,
  ) {
    this.ratio = create(config.ratio, context);
    const { proximal } = this.ratio;
    const wanted = proximal === "always" || ((proximal === "given" || weighed) && givenTrains(config));
    this.models = wanted ? ["proximal"] : [];
  }

  /** undefined where no rollout is helped. */
  static of({ guidance, advantage }: StageBody, context: CreateContext): GuidedRatio | undefined {
    if (!helps(guidance)) return undefined;
    // Its weights are the policy's probabilities, of prefilled tokens too.
    const weighed = advantage.token_weights.some(({ declaration }) => declaration.name === "power");
    return new GuidedRatio(guidance, weighed, context);
  }

  /** The columns as they were, with what the tokens of helped rows count against as their `logp`. */
  anchored(
    batch: Batch,
    old: Stats,
    now: Stats,
    weights: Float64Array,
    success: Uint8Array | undefined,
  ): Stats {
    const { logp } = old;
    if (logp === undefined) return old;
    let anchored: Float64Array | undefined;
    const mixture = this.ratio.step === true ? mixtureOf(batch, success) : none;
    for (let row = 0; row < batch.rows; row++) {
      if (!isHelped(batch, row) && this.ratio.plain !== true) continue;
      anchored ??= logp.slice();
      this.anchorRow(anchored, row, { batch, old, now, weights, mixture });
    }
    return anchored === undefined ? old : { ...old, logp: anchored };
  }

  /** The rows, each with the step's mixture where the ratio reads it: a mini-batch of them cannot see the step. */
  withMixture(batch: Batch, success: Uint8Array, rows: readonly number[]): Batch {
    if (this.ratio.step !== true) return batch;
    const mixture = mixtureOf(
      selectRows(batch, rows),
      Uint8Array.from(rows, (row) => success[row]!),
    );
    const records = batch.records.slice();
    for (const row of rows) records[row] = { ...records[row]!, mixture };
    return { ...batch, records };
  }

  /** The tokens that count against their behaviour policy: those of helped rows count against what the ratio says. */
  withoutHelped(batch: Batch, trained: Uint8Array): Uint8Array {
    const rest = trained.slice();
    for (let row = 0; row < batch.rows; row++)
      if (isHelped(batch, row)) rest.fill(0, batch.offsets[row], batch.offsets[row + 1]);
    return rest;
  }

  private anchorRow(
    anchored: Float64Array,
    row: number,
    { batch, old, now, weights, mixture }: OptimizerStepRows,
  ): void {
    const [from, to] = [batch.offsets[row]!, batch.offsets[row + 1]!];
    const { help, spans, mixture: step = mixture } = batch.records[row]!;
    const helped = isHelped(batch, row);
    const attempts = spans?.["attempt"] ?? [];
    const attempt_tokens = attempts.reduce((sum, [start, end]) => sum + end - start, 0);
    const proximal = old["logp:proximal"];
    for (let i = from; i < to; i++) {
      if (weights[i] === 0) continue;
      const token: GuidedToken = {
        given: batch.origin[i] === origin.given,
        attempt: attempts.some(([start, end]) => i - from >= start && i - from < end),
        behaviour: old.logp?.[i] ?? Number.NaN,
        proximal: proximal?.[i] ?? Number.NaN,
        now: now.logp?.[i] ?? Number.NaN,
        error_rate: help?.error_rate ?? 0,
        helped,
        step,
        attempt_tokens,
      };
      anchored[i] = this.ratio.denominator(token);
      if (Number.isNaN(anchored[i])) this.refuse(token);
    }
  }

  private refuse({ given }: GuidedToken): never {
    const ratio = this.config.ratio.declaration.name;
    throw new UserError(
      `guidance.ratio: ${ratio} needs the log-prob of ${given ? "prefilled tokens under the model that wrote them" : "generated tokens"}, which is unknown`,
      {
        code: "guidance-ratio",
        action:
          "Choose `shaped`, `multiple_importance` or `same_context`, which do not need it, or a source that is a model of the run.",
      },
    );
  }

  /** The objective, with the ratio's own loss on the tokens that are its. */
  over(objective: Objective): Objective {
    const { instead } = this.ratio;
    if (instead === undefined) return objective;
    const { start: _, ...rest } = objective;
    return { ...rest, loss: (input) => split(objective, instead, input) };
  }
}

type Instead = NonNullable<GuidanceRatio["instead"]>;

/** 1 where the ratio's loss replaces the objective's; undefined: nowhere. */
function tokensOf({ on }: Instead, { batch, weights }: ObjectiveInput): Uint8Array | undefined {
  let found: Uint8Array | undefined;
  for (let row = 0; row < batch.rows; row++) {
    if (!isHelped(batch, row)) continue;
    for (let i = batch.offsets[row]!; i < batch.offsets[row + 1]!; i++) {
      if (weights[i] === 0 || (on === "given" && batch.origin[i] !== origin.given)) continue;
      (found ??= new Uint8Array(weights.length))[i] = 1;
    }
  }
  return found;
}

function split(objective: Objective, instead: Instead, input: ObjectiveInput): Weighed {
  const taken = tokensOf(instead, input);
  if (taken === undefined) return objective.loss(input);
  const left = (column: Float64Array): Float64Array => column.map((value, i) => (taken[i] === 1 ? 0 : value));
  const own = objective.loss({ ...input, weights: left(input.weights), factors: left(input.factors) });
  const logp = own.gradients.logp ?? new Float64Array(input.weights.length);
  const loss = own.loss + addTokens(instead.loss, taken, input, logp);
  return {
    ...own,
    loss,
    gradients: { ...own.gradients, logp },
    touched: { ...own.touched, "guidance.ratio": taken },
  };
}

function addTokens(
  lossOf: TokenLoss,
  taken: Uint8Array,
  { now, old, advantages, factors }: ObjectiveInput,
  gradient: Float64Array,
): number {
  let loss = 0;
  for (let i = 0; i < taken.length; i++) {
    if (taken[i] === 0 || factors[i] === 0) continue;
    const token = {
      now: now.logp?.[i] ?? Number.NaN,
      anchor: old.logp?.[i] ?? Number.NaN,
      advantage: advantages[i]!,
    };
    const one = lossOf(token);
    loss += factors[i]! * one.loss;
    gradient[i]! += factors[i]! * one.slope;
  }
  return loss;
}
