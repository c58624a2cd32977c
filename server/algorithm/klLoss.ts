/** KL terms in the loss: their value, and derivatives by log π and by the channels of full divergences. */
import type { Aggregate, Batch, Channel, Clock, KlPoint, Stats } from "../seams.ts";
import { sequenceMeans, sequenceSums, tokenMeans } from "../objective/normalisers.ts";
import { column } from "./column.ts";
import type { LossKlTerm } from "./kl.ts";

export interface KlLossInput {
  readonly batch: Batch;
  readonly now: Stats;
  readonly old: Stats;
  /** Of the tokens that train. */
  readonly weights: Float64Array;
  /** What the objective's normaliser makes of them. */
  readonly factors: Float64Array;
  readonly success: Uint8Array | undefined;
  readonly clock: Clock;
}

export interface KlLoss {
  loss: number;
  readonly gradients: Partial<Record<Channel, Float64Array>>;
  readonly metrics: Record<string, number>;
}

const aggregates: Readonly<Record<Exclude<LossKlTerm["aggregate"], "objective">, Aggregate>> = {
  token_mean: tokenMeans,
  sequence_mean: (weights, batch) => sequenceMeans(weights, batch, "skip"),
  sequence_sum: (weights, batch) => sequenceSums(weights, batch, "skip"),
};

/** The normaliser's factor of each token, times the term's own. */
function factorsOf(term: LossKlTerm, { batch, old, weights, factors, success }: KlLossInput): Float64Array {
  const own = term.aggregate === "objective" ? factors : aggregates[term.aggregate](weights, batch);
  if (term.acts === undefined) return own;
  const acts = term.acts({ batch, old, weights, ...(success === undefined ? {} : { success }) });
  for (let i = 0; i < acts.length; i++) acts[i]! *= own[i]!;
  return acts;
}

/** log-probs of what a term compares the policy with. */
export const otherColumn = ({ model }: Pick<LossKlTerm, "model">, old: Stats): Float64Array =>
  model === "behaviour"
    ? column(old, "logp", "the KL in the loss")
    : column(old, `logp:${model}`, "the KL in the loss");

/** Where the policy tells a full divergence. */
export const fullChannel = ({
  model,
  direction,
  estimator: { top_k },
}: Pick<LossKlTerm, "model" | "direction" | "estimator">): Channel =>
  top_k === undefined ? `kl:${model}:${direction}` : `kl:${model}:${direction}:${top_k}`;

export function klLoss(
  terms: readonly LossKlTerm[],
  input: KlLossInput,
  gradient: (channel: Channel) => Float64Array,
): { loss: number; metrics: Record<string, number> } {
  let loss = 0;
  const metrics: Record<string, number> = {};
  for (const term of terms) {
    if (term.adaptive !== undefined)
      metrics[`policy/kl/${term.model}/coefficient`] = term.coefficient(input.clock);
    if (term.place === "reward") {
      measure(term, input, column(input.old, "logp", "the KL"));
      continue;
    }
    const coefficient = term.coefficient(input.clock);
    if (coefficient === 0) continue;
    const factors = factorsOf(term, input);
    const part =
      term.estimator.full === true
        ? fullTerm(term, input, factors, coefficient, gradient)
        : sampledTerm(term, input, factors, coefficient, gradient("logp"));
    loss += part.loss;
    metrics[`policy/kl/${term.model}`] = part.mean;
  }
  return { loss, metrics };
}

interface Part {
  readonly loss: number;
  /** Of the divergence over the tokens on which the term acts. */
  readonly mean: number;
}

const acting = (factors: Float64Array): number => {
  let count = 0;
  for (let i = 0; i < factors.length; i++) if (factors[i] !== 0) count += 1;
  return count;
};

function fullTerm(
  term: LossKlTerm,
  { now, batch, weights }: KlLossInput,
  factors: Float64Array,
  coefficient: number,
  gradientOf: (channel: Channel) => Float64Array,
): Part {
  const channel = fullChannel(term);
  const divergence = column(now, channel, "the KL in the loss");
  const gradient = gradientOf(channel);
  let [loss, sum] = [0, 0];
  for (let i = 0; i < factors.length; i++) {
    if (factors[i] === 0) continue;
    loss += coefficient * factors[i]! * divergence[i]!;
    gradient[i]! += coefficient * factors[i]!;
    sum += divergence[i]!;
  }
  term.adaptive?.measure(...rowMean(batch, weights, (i) => divergence[i]!));
  return { loss, mean: sum / acting(factors) };
}

function sampledTerm(
  term: LossKlTerm,
  input: KlLossInput,
  factors: Float64Array,
  coefficient: number,
  gradient: Float64Array,
): Part {
  const own = column(input.now, "logp", "the KL in the loss");
  const other = otherColumn(term, input.old);
  measure(term, input, own);
  const columns = { own, other, factors, coefficient, gradient };
  const summed = term.importance === undefined ? term.estimator.sum?.(columns) : undefined;
  if (summed !== undefined) return { loss: summed.loss, mean: summed.k3 / summed.count };
  const weights = importanceColumn(term, input, own);
  const loss = pointwise(term.estimator, columns, term, weights);
  if (term.importance?.level === "sequence" && !term.importance.detached && weights !== undefined)
    throughSequence(term, input, columns, weights);
  let k3 = 0;
  for (let i = 0; i < factors.length; i++)
    if (factors[i] !== 0) k3 += Math.expm1(other[i]! - own[i]!) - (other[i]! - own[i]!);
  return { loss, mean: k3 / acting(factors) };
}

interface Columns {
  readonly own: Float64Array;
  readonly other: Float64Array;
  readonly factors: Float64Array;
  readonly coefficient: number;
  readonly gradient: Float64Array;
}

/** Token by token; an importance weight multiplies value, gradient or both, and a token's own one moves with log π. */
function pointwise(
  point: KlPoint,
  { own, other, factors, coefficient, gradient }: Columns,
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
  { batch, old, weights }: KlLossInput,
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
  { batch, weights: trains }: KlLossInput,
  { own, other, factors, coefficient, gradient }: Columns,
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

/** Mean over rollouts of their token means, and how many rollouts. */
function rowMean(batch: Batch, weights: Float64Array, value: (token: number) => number): [number, number] {
  let [total, rollouts] = [0, 0];
  eachRow(batch, weights, (from, to, count) => {
    let sum = 0;
    for (let i = from; i < to; i++) if (weights[i] !== 0) sum += value(i);
    total += sum / count;
    rollouts += 1;
  });
  return [total / rollouts, rollouts];
}

/** What an adaptive coefficient follows. */
function measure(term: LossKlTerm, { batch, old, weights }: KlLossInput, own: Float64Array): void {
  if (term.adaptive === undefined) return;
  const other = otherColumn(term, old);
  term.adaptive.measure(...rowMean(batch, weights, (i) => term.estimator.value(own[i]!, other[i]!)));
}
