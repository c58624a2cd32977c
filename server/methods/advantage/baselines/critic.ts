import { z } from "zod";
import { refers } from "../../../core/references.ts";
import { schedulable, valueAt, type Scheduled } from "../../../core/schedule.ts";
import { baseline, param } from "../../../core/declaration.ts";
import { finite, headColumn } from "../columns.ts";
import { Moments } from "../../../lib/moments.ts";
import type { AdvantageInput, Units } from "../../../core/slots/advantage.ts";
import { gapAfter } from "../units.ts";

const lambdaSchema = z.union([
  schedulable(z.number().min(0).max(1)),
  z.strictObject({
    length: param(
      z.number().positive(),
      "α of λ = 1 − 1 / (α · tokens of the response): in longer responses the estimate looks further ahead.",
    ),
  }),
]);
type Lambda = Scheduled | { readonly length: number };

function lambdaOf(lambda: Lambda, input: AdvantageInput, row: number): number {
  if (typeof lambda === "object" && "length" in lambda) {
    const { offsets, mask } = input.batch;
    let tokens = 0;
    for (let t = offsets[row]!; t < offsets[row + 1]!; t++) tokens += mask[t]!;
    return Math.max(0, 1 - 1 / Math.max(lambda.length * tokens, 1));
  }
  return valueAt(lambda, input.clock);
}

interface Recursion {
  /** Of the state before each unit. */
  readonly values: Float64Array;
  readonly gamma: number;
  readonly lambda: Lambda;
  readonly bootstrap: boolean;
}

/** Columns of units; a target is what the critic should have said of one. */
interface Estimates {
  readonly advantages: Float64Array;
  /** A + V; if it is not needed, the column of the advantages, which are written last. */
  readonly targets: Float64Array;
  /** Takes the advantages' sums. */
  readonly moments: Moments;
}

/**
 * A_u = δ_u + γλ A_{u+1} with δ_u = r_u + γ V_{u+1} − V_u, from a row's last unit to its first. Untrained tokens
 * between two units pass everything on as it is, or, where they count, are steps of value and reward 0.
 */
function estimate(
  input: AdvantageInput,
  { values, gamma, lambda, bootstrap }: Recursion,
  found: Estimates,
): void {
  const { units, batch } = input;
  const { offsets } = units;
  const rowOf = input.rewardsOf ?? ((row) => input.rewards.subarray(offsets[row], offsets[row + 1]));
  const estimated = input.observations === "discount" && units.level === "token" ? acrossGaps : withoutGaps;
  for (let row = 0; row < batch.rows; row++) {
    const [from, to] = [offsets[row]!, offsets[row + 1]!];
    if (from === to) continue;
    const rewards = rowOf(row);
    if (Number.isNaN(rewards[0]!)) {
      leaveOut(found, from, to);
      continue;
    }
    const decay = gamma * lambdaOf(lambda, input, row);
    const cut = bootstrap && batch.records[row]!.finish === "length";
    const beyond = cut ? values[to - 1]! : 0;
    estimated(found, rewards, values, units, { gamma, decay, beyond }, from, to);
    // NaN at one unit makes all units before it NaN.
    if (!Number.isFinite(found.advantages[from]!)) refuse(input, values, row);
  }
}

function leaveOut({ advantages, targets, moments }: Estimates, from: number, to: number): void {
  advantages.fill(Number.NaN, from, to);
  targets.fill(Number.NaN, from, to);
  moments.take(to - from, 0, 0, 0);
}

/** γ, γλ, and the value of what lies beyond a row. */
interface Factors {
  readonly gamma: number;
  readonly decay: number;
  readonly beyond: number;
}

/**
 * Units [from, to): those of one row, whose reward is known. A number waits for the one after it: sums that do not are
 * free next to it.
 * @param rewards of the row's units
 */
function withoutGaps(
  { advantages, targets, moments }: Estimates,
  rewards: Float64Array,
  values: Float64Array,
  _: Units,
  { gamma, decay, beyond }: Factors,
  from: number,
  to: number,
): void {
  let nextValue = beyond;
  let next = 0;
  let sum = 0;
  let squares = 0;
  const pivot = moments.pivot(rewards[to - 1 - from]! + gamma * beyond - values[to - 1]!);
  for (let unit = to - 1; unit >= from; unit--) {
    const value = values[unit]!;
    const delta = rewards[unit - from]! + gamma * nextValue - value;
    next = delta + decay * next;
    nextValue = value;
    targets[unit] = next + value;
    advantages[unit] = next;
    const apart = next - pivot;
    sum += apart;
    squares += apart * apart;
  }
  moments.take(to - from, to - from, sum, squares);
}

function acrossGaps(
  { advantages, targets, moments }: Estimates,
  rewards: Float64Array,
  values: Float64Array,
  units: Units,
  { gamma, decay, beyond }: Factors,
  from: number,
  to: number,
): void {
  let nextValue = beyond;
  let next = 0;
  for (let unit = to - 1; unit >= from; unit--) {
    const gap = unit < to - 1 ? gapAfter(units, unit) : 0;
    if (gap > 0) {
      next = decay ** (gap - 1) * (gamma * nextValue + decay * next);
      nextValue = 0;
    }
    const value = values[unit]!;
    next = rewards[unit - from]! + gamma * nextValue - value + decay * next;
    nextValue = value;
    targets[unit] = next + value;
    advantages[unit] = next;
  }
  moments.pivot(advantages[to - 1]!);
  moments.add(advantages, undefined, from, to);
}

function refuse({ units: { offsets }, batch }: AdvantageInput, values: Float64Array, row: number): void {
  for (let unit = offsets[row]!; unit < offsets[row + 1]!; unit++)
    finite(values[unit]!, "the critic's value", batch, row);
}

/** A column's value before each unit: at its first token that trains. */
const atUnits = (column: Float64Array, { everyToken, first }: Units): Float64Array =>
  everyToken === true ? column : Float64Array.from(first, (token) => column[token]!);

export const critic = baseline({
  name: "critic",
  aliases: ["gae"],
  summary:
    "Generalised advantage estimation (GAE) with a critic's values: in a run those of a value head of the policy or of another model, in recorded rollouts the column `values`. At level `response` the advantage is the reward minus the value of the prompt.",
  formula: "A_t = Σ_k (γλ)^k δ_{t+k}, δ_t = r_t + γ V(s_{t+1}) − V(s_t)",
  sources: [
    "High-Dimensional Continuous Control Using Generalized Advantage Estimation",
    "VAPO: Efficient and Reliable Reinforcement Learning for Advanced Reasoning Tasks",
  ],
  params: z.object({
    gamma: param(
      z.number().min(0).max(1).optional(),
      "γ, the discount from one unit to the next; default: advantage.gamma.",
    ),
    lambda: param(
      lambdaSchema.default(1),
      "λ: 0 trusts the critic for everything that follows, 1 trusts the rewards. `{ length: α }` sets λ by the response's length.",
    ),
    lambda_returns: param(
      lambdaSchema.optional(),
      "λ of the critic's own targets; default: the policy's λ. 1 gives plain returns.",
    ),
    head: param(refers({ to: "head" }).default("value"), "Name of the value head."),
    model: param(refers({ to: "model", also: ["policy"] }).default("policy"), "The model that has the head."),
    truncated: param(
      z.enum(["zero", "last_value"]).default("zero"),
      "The value that follows a truncated response: 0, or the last token's value.",
    ),
  }),
  create: ({ gamma, lambda, lambda_returns, head, model, truncated }) => {
    const recursion = (input: AdvantageInput, by: Lambda): Recursion => ({
      values: atUnits(headColumn(input.batch, input.stats, head, "advantage.baseline: critic"), input.units),
      gamma: gamma ?? input.gamma,
      lambda: by,
      bootstrap: truncated === "last_value",
    });
    return {
      level: "token",
      returns: "own",
      channels: [{ model, channel: `head:${head}` }],
      centre(input) {
        const advantages = input.column("advantages", input.units.count);
        const moments = input.moments ?? new Moments();
        estimate(input, recursion(input, lambda), { advantages, targets: advantages, moments });
        return advantages;
      },
      centreWithTargets(input) {
        const { count } = input.units;
        const [advantages, targets] = [input.column("advantages", count), input.column("returns", count)];
        const moments = input.moments ?? new Moments();
        // Targets of another λ are written first, together with advantages that are not needed.
        if (lambda_returns !== undefined)
          estimate(input, recursion(input, lambda_returns), { advantages, targets, moments: new Moments() });
        const own = lambda_returns === undefined ? targets : advantages;
        estimate(input, recursion(input, lambda), { advantages, targets: own, moments });
        return { centred: advantages, targets };
      },
    };
  },
});
