/** KL terms in the loss: their value, and derivatives by log π and by the channels of full divergences. */
import { expm1 } from "../../lib/exponential.ts";
import type { KlColumns, KlPoint } from "../../core/slots/kl.ts";
import type { Clock } from "../../core/basics.ts";
import { divergenceChannel } from "../../core/channelNames.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { Channel, Stats } from "../../core/policy.ts";
import type { Aggregate, LossSlice } from "../../core/loss.ts";
import { factorsInto, type Stretch } from "../../core/rows/batchParts.ts";
import { sequenceMeans, sequenceSums, tokenMeans } from "../../methods/objective/aggregates/normalisers.ts";
import { column } from "../../methods/objective/column.ts";
import type { LossKlTerm } from "./kl.ts";
import { countsOf, tokensOf, type TokenColumn } from "../advantages/tokenColumn.ts";

/** What decides, over the whole batch, where the terms act and how much each token counts. */
interface KlWhole {
  readonly batch: Batch;
  readonly old: Stats;
  /** Of the tokens that train. */
  readonly weights: TokenColumn;
  readonly success: Uint8Array | undefined;
  readonly routes?: Uint8Array | undefined;
  readonly clock: Clock;
}

/** Some whole rows. */
interface KlPart extends Pick<LossSlice, "batch" | "now" | "old" | "weights"> {
  readonly at: Stretch;
  /** What the objective's normaliser makes of the weights. */
  readonly counted: Float64Array;
}

const aggregates: Readonly<Record<Exclude<LossKlTerm["aggregate"], "objective">, Aggregate>> = {
  token_mean: tokenMeans,
  sequence_mean: (counts, batch) => sequenceMeans(counts, batch, "skip"),
  sequence_sum: (counts, batch) => sequenceSums(counts, batch, "skip"),
};

/** A term while parts of a batch are added up. */
class RunningTerm {
  private readonly byRow: Float64Array | undefined;
  private readonly acts: Float64Array | undefined;
  /** Of the divergence, over the tokens on which the term acts. */
  sum = 0;
  count = 0;
  private scratch = new Float64Array(0);

  constructor(
    readonly term: LossKlTerm,
    readonly coefficient: number,
    private readonly whole: KlWhole,
  ) {
    const { batch, old, weights, success, routes } = whole;
    if (term.place === "reward") return;
    if (term.aggregate !== "objective")
      this.byRow = aggregates[term.aggregate](countsOf(weights, batch), batch);
    this.acts = term.acts?.({
      batch,
      old,
      weights: tokensOf(weights),
      ...(success === undefined ? {} : { success }),
      ...(routes === undefined ? {} : { routes }),
    });
  }

  /** As many numbers; their values are undefined. */
  space(size: number): Float64Array {
    if (this.scratch.length < size) this.scratch = new Float64Array(size);
    return this.scratch;
  }

  /** The normaliser's factor of each token, times the term's own. */
  factors({ at, counted, weights }: KlPart): Float64Array {
    const { byRow, acts, whole } = this;
    if (byRow === undefined && acts === undefined) return counted;
    const own =
      byRow === undefined
        ? counted.slice()
        : factorsInto(new Float64Array(counted.length), weights, byRow, whole.batch, at);
    if (acts !== undefined) for (let i = 0; i < own.length; i++) own[i]! *= acts[at.from + i]!;
    return own;
  }
}

/** The terms of a loss, added up part after part. */
export class KlLoss {
  private readonly running: readonly RunningTerm[];

  constructor(
    private readonly terms: readonly LossKlTerm[],
    private readonly whole: KlWhole,
  ) {
    this.running = terms.flatMap((term) => {
      const coefficient = term.coefficient(whole.clock);
      const idle = term.place === "reward" ? term.adaptive === undefined : coefficient === 0;
      return idle ? [] : [new RunningTerm(term, coefficient, whole)];
    });
  }

  /** No term acts or measures. */
  get idle(): boolean {
    return this.running.length === 0;
  }

  /** The part's loss. @param gradient of a channel on the part's tokens: added to */
  add(part: KlPart, gradient: (channel: Channel) => Float64Array): number {
    let loss = 0;
    for (const running of this.running)
      if (running.term.place === "reward") measure(running.term, part, column(part.old, "logp", "the KL"));
      else {
        const channel = fullChannel(running.term);
        loss +=
          channel === undefined
            ? sampledTerm(running, part, gradient("logp"))
            : fullTerm(running, part, channel, gradient(channel));
      }
    return loss;
  }

  metrics(): Record<string, number> {
    const found: Record<string, number> = {};
    for (const { adaptive, model, coefficient } of this.terms)
      if (adaptive !== undefined) found[`policy/kl/${model}/coefficient`] = coefficient(this.whole.clock);
    for (const { term, sum, count } of this.running)
      if (term.place === "loss" && count > 0) found[`policy/kl/${term.model}`] = sum / count;
    return found;
  }
}

/** log-probs of what a term compares the policy with. */
const otherColumn = ({ model }: Pick<LossKlTerm, "model">, old: Stats): Float64Array =>
  model === "behaviour"
    ? column(old, "logp", "the KL in the loss")
    : column(old, `logp:${model}`, "the KL in the loss");

/** Where the policy computes a full divergence; undefined: the estimate is made of log-probs. */
export const fullChannel = ({
  model,
  direction,
  estimator: { full },
}: Pick<LossKlTerm, "model" | "direction" | "estimator">): Channel | undefined =>
  full &&
  divergenceChannel({ model, of: full.beta ?? direction, top: full.top_k, temperature: full.temperature });

function fullTerm(running: RunningTerm, part: KlPart, channel: Channel, gradient: Float64Array): number {
  const { term, coefficient } = running;
  const divergence = column(part.now, channel, "the KL in the loss");
  const factors = running.factors(part);
  let loss = 0;
  for (let i = 0; i < factors.length; i++) {
    if (factors[i] === 0) continue;
    loss += coefficient * factors[i]! * divergence[i]!;
    gradient[i]! += coefficient * factors[i]!;
    running.sum += divergence[i]!;
    running.count += 1;
  }
  measured(term, part, (i) => divergence[i]!);
  return loss;
}

function sampledTerm(running: RunningTerm, part: KlPart, gradient: Float64Array): number {
  const { term, coefficient } = running;
  const own = column(part.now, "logp", "the KL in the loss");
  const other = otherColumn(term, part.old);
  measure(term, part, own);
  const factors = running.factors(part);
  const columns = { own, other, factors, coefficient, gradient, scratch: running.space(own.length) };
  const summed = term.importance === undefined ? term.estimator.sum?.(columns) : undefined;
  if (summed !== undefined) {
    running.sum += summed.k3;
    running.count += summed.count;
    return summed.loss;
  }
  const weights = importanceColumn(term, part, own);
  const loss = pointwise(term.estimator, columns, term, weights);
  if (term.importance?.level === "sequence" && !term.importance.detached && weights !== undefined)
    throughSequence(term, part, columns, weights);
  for (let i = 0; i < factors.length; i++) {
    if (factors[i] === 0) continue;
    running.sum += expm1(other[i]! - own[i]!) - (other[i]! - own[i]!);
    running.count += 1;
  }
  return loss;
}

/** Token by token; an importance weight multiplies value, gradient or both, and a token's own one moves with log π. */
function pointwise(
  point: KlPoint,
  { own, other, factors, coefficient, gradient }: Omit<KlColumns, "scratch">,
  { importance }: LossKlTerm,
  weights: Float64Array | undefined,
): number {
  const moves = importance !== undefined && importance.level === "token" && !importance.detached;
  let loss = 0;
  for (let i = 0; i < own.length; i++) {
    if (factors[i] === 0) continue;
    const weight = weights?.[i] ?? 1;
    const value = point.value(own[i]!, other[i]!);
    const factor = coefficient * factors[i]!;
    const uncapped = importance?.cap === undefined || weight < importance.cap;
    loss += factor * value * (importance?.of === "gradient" ? 1 : weight);
    gradient[i]! += factor * weight * (point.slope(own[i]!, other[i]!) + (moves && uncapped ? value : 0));
  }
  return loss;
}

/** Ratios of now to behaviour: each token's, or of its response. */
function importanceColumn(
  { importance }: LossKlTerm,
  { batch, old, weights }: KlPart,
  own: Float64Array,
): Float64Array | undefined {
  if (importance === undefined) return undefined;
  const behaviour = column(old, "logp", "the importance weight of a KL term");
  const cap = importance.cap ?? Number.POSITIVE_INFINITY;
  if (importance.level === "token")
    return own.map((logp, i) => (weights[i] === 0 ? 0 : Math.min(cap, Math.exp(logp - behaviour[i]!))));
  const result = new Float64Array(own.length);
  eachRow(batch, weights, (from, to, count) => {
    let sum = 0;
    for (let i = from; i < to; i++) if (weights[i] !== 0) sum += own[i]! - behaviour[i]!;
    result.fill(Math.min(cap, Math.exp(sum / count)), from, to);
  });
  return result;
}

/** A response's ratio moves with every of its tokens: each gets its share of what the whole row's value changes. */
function throughSequence(
  { estimator, importance }: LossKlTerm,
  { batch, weights: trains }: KlPart,
  { own, other, factors, coefficient, gradient }: Omit<KlColumns, "scratch">,
  weights: Float64Array,
): void {
  eachRow(batch, trains, (from, to, count) => {
    if (importance?.cap !== undefined && weights[from]! >= importance.cap) return;
    let sum = 0;
    for (let i = from; i < to; i++)
      if (factors[i] !== 0)
        sum += coefficient * factors[i]! * weights[i]! * estimator.value(own[i]!, other[i]!);
    for (let i = from; i < to; i++) if (trains[i] !== 0) gradient[i]! += sum / count;
  });
}

function eachRow(
  { rows, offsets }: Batch,
  weights: Float64Array,
  visit: (from: number, to: number, count: number) => void,
): void {
  for (let row = 0; row < rows; row++) {
    let count = 0;
    for (let i = offsets[row]!; i < offsets[row + 1]!; i++) if (weights[i] !== 0) count += 1;
    if (count > 0) visit(offsets[row]!, offsets[row + 1]!, count);
  }
}

/** Mean over rollouts of their token means, or of their sums, and how many rollouts. */
function rowMean(
  batch: Batch,
  weights: Float64Array,
  per: "token" | "response",
  value: (token: number) => number,
): [number, number] {
  let total = 0;
  let rollouts = 0;
  eachRow(batch, weights, (from, to, count) => {
    let sum = 0;
    for (let i = from; i < to; i++) if (weights[i] !== 0) sum += value(i);
    total += per === "token" ? sum / count : sum;
    rollouts += 1;
  });
  return [total / rollouts, rollouts];
}

/** What an adaptive coefficient follows. */
function measured(
  { adaptive }: LossKlTerm,
  { batch, weights }: KlPart,
  value: (token: number) => number,
): void {
  adaptive?.measure(...rowMean(batch, weights, adaptive.options.per, value));
}

function measure(term: LossKlTerm, part: KlPart, own: Float64Array): void {
  if (term.adaptive === undefined) return;
  const other = otherColumn(term, part.old);
  measured(term, part, (i) => term.estimator.value(own[i]!, other[i]!));
}
