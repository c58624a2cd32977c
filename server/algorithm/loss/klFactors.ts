/** Where a KL term acts and how strongly: by the rollout's success, by turn, by how sure a model was. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { KlConfig } from "../../core/config/resolved.ts";
import type { KlWeight } from "../../core/blocks/kl.ts";
import type { KlInput, KlRows, KlTerm } from "../../core/slots/kl.ts";
import type { Batch } from "../../core/rollouts.ts";
import { column } from "../../methods/objective/column.ts";
import { outcome } from "../rewards/rewards.ts";
import { placeOf } from "./routes.ts";
import type { CreateContext } from "../../core/declaration.ts";

/**
 * The factor per token of an entry; undefined where it acts alike on all.
 * @param teacher name of its teacher context, where it has one
 */
export function actsOn(
  config: KlConfig,
  at: number,
  context: CreateContext,
  teacher: string | undefined,
): KlTerm["acts"] {
  const { mask, turns, weight, model } = config;
  if (mask === "all" && turns === undefined && weight === undefined && teacher === undefined)
    return undefined;
  return (input) => {
    const factors = Float64Array.from(input.weights, (one) => (one === 0 ? 0 : 1));
    if (teacher !== undefined)
      clearRows(factors, input.batch, (row) => hasContext(input.batch, row, teacher));
    if (mask === "distilled")
      clearRows(factors, input.batch, (row) => input.routes?.[row] === placeOf("distil"));
    else if (mask !== "all") maskRows(factors, input, mask);
    if (turns !== undefined) maskTurns(factors, input.batch, turns);
    if (weight !== undefined) weigh(factors, input, weight, model, at, context);
    return factors;
  };
}

/** Which of a batch's groups consist of rollouts that are known to be all right or all wrong. */
function uniform(batch: Batch, success: Uint8Array, wanted: number): Uint8Array {
  const result = new Uint8Array(batch.groups).fill(1);
  batch.group.forEach((group, row) => {
    if (success[row] !== wanted) result[group] = 0;
  });
  return result;
}

function rowsOf(batch: Batch, success: Uint8Array, mask: KlRows): (row: number) => boolean {
  if (mask === "right") return (row) => success[row] === outcome.right;
  if (mask === "wrong") return (row) => success[row] === outcome.wrong;
  const [right, wrong] = [uniform(batch, success, outcome.right), uniform(batch, success, outcome.wrong)];
  if (mask === "all_right") return (row) => right[batch.group[row]!] === 1;
  if (mask === "all_wrong") return (row) => wrong[batch.group[row]!] === 1;
  if (mask === "mixed") return (row) => right[batch.group[row]!] === 0 && wrong[batch.group[row]!] === 0;
  return () => true;
}

/** Whether the row has a teacher context of that name. */
export const hasContext = ({ records }: Batch, row: number, teacher: string): boolean =>
  records[row]!.shown?.[teacher] !== undefined;

function clearRows(factors: Float64Array, batch: Batch, acts: (row: number) => boolean): void {
  for (let row = 0; row < batch.rows; row++)
    if (!acts(row)) factors.fill(0, batch.offsets[row], batch.offsets[row + 1]);
}

function maskRows(factors: Float64Array, { batch, success }: KlInput, mask: KlRows): void {
  if (success === undefined)
    throw new UserError(`a KL entry with \`mask: ${mask}\` needs to know which rollouts succeeded`, {
      code: "kl-mask",
      action: "Record rewards with the rollouts, or set `mask: all`.",
    });
  clearRows(factors, batch, rowsOf(batch, success, mask));
}

/** Turns are counted among those of the assistant, from 0; a rollout without turns is its turn 0. */
function maskTurns(factors: Float64Array, { rows, offsets, records }: Batch, turns: readonly number[]): void {
  for (let row = 0; row < rows; row++) {
    const [start, end] = [offsets[row]!, offsets[row + 1]!];
    const own = records[row]?.turns?.filter(({ role }) => role === "assistant") ?? [
      { start: 0, end: end - start },
    ];
    const kept = factors.slice(start, end);
    factors.fill(0, start, end);
    own.forEach((turn, index) => {
      if (turns.includes(index)) factors.set(kept.subarray(turn.start, turn.end), start + turn.start);
    });
  }
}

function weigh(
  factors: Float64Array,
  { batch, old }: KlInput,
  weight: KlWeight,
  model: string,
  at: number,
  context: CreateContext,
): void {
  const entropy =
    weight.entropy_of === "behaviour"
      ? batch.columns.entropy
      : column(old, `entropy:${model}`, `kl.${at}.weight`);
  if (entropy === undefined)
    throw new UserError(`kl.${at}.weight needs the entropy of each token, which the rollouts do not have`, {
      code: "channel-missing",
      action: "Record `entropy` with the rollouts, or leave `weight` out.",
    });
  if (weight.by === "certainty") certainty(factors, entropy, weight, at, context);
  else confidence(factors, entropy, weight.beta);
}

function certainty(
  factors: Float64Array,
  entropy: Float64Array,
  { power, vocabulary }: KlWeight,
  at: number,
  context: CreateContext,
): void {
  const size = vocabulary ?? context.tokenizer?.size;
  if (size === undefined)
    throw new UserError(`kl.${at}.weight: the size of the vocabulary is unknown`, {
      code: "kl-vocabulary",
      action: `Set \`kl.${at}.weight.vocabulary\`.`,
    });
  const most = Math.log(size);
  for (let i = 0; i < factors.length; i++)
    if (factors[i] !== 0) factors[i]! *= Math.max(0, (most - entropy[i]!) / most) ** power;
}

/** exp(−β H), scaled to mean 1 over the tokens on which the term acts. */
function confidence(factors: Float64Array, entropy: Float64Array, beta: number): void {
  let sum = 0;
  let count = 0;
  for (let i = 0; i < factors.length; i++) {
    if (factors[i] === 0) continue;
    factors[i] = Math.exp(-beta * entropy[i]!);
    sum += factors[i]!;
    count += 1;
  }
  if (sum > 0) for (let i = 0; i < factors.length; i++) factors[i]! *= count / sum;
}
