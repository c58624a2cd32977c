/** RLCSD's contrast: the loss that it makes of a token mean against the source's, written out from its definition. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { contrast } from "../../../../server/methods/advantage/weights/contrast.ts";
import type { Clock } from "../../../../server/core/basics.ts";
import type { Stats } from "../../../../server/core/policy.ts";
import { batchOf, made, near, row } from "../../support.ts";

const clock: Clock = { step: 0, stageStep: 0 };
const wrong = ["wrong_sibling", "wrong_sibling-2"];
const both = { sibling: "r", wrong_sibling: "w", "wrong_sibling-2": "v" };
const batch = batchOf([
  row("a", 0, { tokens: [1, 1, 1, 1], shown: both }),
  // Its group has only one other failure.
  row("a", 1, { tokens: [1, 1, 1], shown: { sibling: "r", wrong_sibling: "w" }, mask: [1, 0, 1] }),
  // The only success: nothing right to read.
  row("a", 2, { tokens: [1, 1], shown: { wrong_sibling: "w", "wrong_sibling-2": "v" } }),
  row("b", 0, { tokens: [1] }),
  // Its group has no other failure.
  row("c", 0, { tokens: [1], shown: { sibling: "r" } }),
]);
const right = [0.5, 0.501, 0.2, 0.9, 0.3, 0.4, 0.4, 0.7, 0.7, 0.6, 0.6];
const first = [0.4, 0.5, 0.3, 0.1, 0.3003, 0.5, 0.41, 0.1, 0.1, 0.1, 0.1];
const second = [0.6, 0.5, 0.4, 0.1, 0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1];
const stats: Stats = {
  "logp:teacher@sibling": Float64Array.from(right, Math.log),
  "logp:teacher@wrong_sibling": Float64Array.from(first, Math.log),
  "logp:teacher@wrong_sibling-2": Float64Array.from(second, Math.log),
};
const advantages = Float64Array.of(1.2, 1.2, 1.2, 1.2, -0.3, -0.3, -0.3, 1, 1, 0, -1);
const ratio = [1.1, 0.7, 1.4, 0.9, 1.3, 1, 0.6, 1, 1, 1, 1];

/** −min(ρ A, clip(ρ, 0.8, 1.2) A) */
const surrogate = (rho: number, a: number): number =>
  -Math.min(rho * a, Math.min(1.2, Math.max(0.8, rho)) * a);

interface Numbers {
  readonly tau: number;
  readonly gain: number;
  readonly clip: number;
  readonly least: number;
  readonly eta: number;
}

/** The sum of both means, over the tokens of rollouts that have hints of both kinds. */
function defined({ tau, gain, clip, least, eta }: Numbers): number {
  const kept: readonly (readonly [token: number, wrong: number])[] = [
    [0, (0.4 + 0.6) / 2],
    [1, 0.5],
    [2, (0.3 + 0.4) / 2],
    [3, 0.1],
    [4, 0.3003],
    [6, 0.41],
  ];
  const [plain, selected]: [number[], number[]] = [[], []];
  for (const [t, other] of kept) {
    const raw = gain * Math.tanh((Math.log(right[t]!) - Math.log(other)) / tau);
    const residual = Math.min(clip, Math.max(-clip, raw));
    const a = advantages[t]!;
    const moved = a > 0 ? Math.max(0, a + residual) : Math.min(0, a + residual);
    if (Math.abs(residual) > least) selected.push(surrogate(ratio[t]!, moved));
    else plain.push(surrogate(ratio[t]!, a));
  }
  const mean = (list: readonly number[]): number =>
    list.reduce((sum, one) => sum + one, 0) / Math.max(1, list.length);
  return mean(plain) + eta * mean(selected);
}

/** A token mean of the same surrogate with the method's weights. */
function weighed(numbers: Numbers): number {
  const weights = made(contrast, { model: "teacher", wrong, ...numbers })(batch, stats, advantages, clock);
  let [sum, count] = [0, 0];
  weights.forEach((weight, t) => {
    if (batch.mask[t] !== 1) return;
    count += 1;
    sum += weight * surrogate(ratio[t]!, advantages[t]!);
  });
  return sum / count;
}

test("a token mean with the weights is the source's two means", () => {
  const source = { tau: 0.02, gain: 0.5, clip: 2, least: 0.02, eta: 1 };
  const cases: readonly Numbers[] = [
    source,
    { ...source, eta: 0.25 },
    { ...source, clip: 0.1 },
    { ...source, tau: 1 },
    // Past 0 the advantage stays there.
    { ...source, gain: 5, clip: 9 },
    // Everywhere a contrast, and nowhere one.
    { ...source, least: 0 },
    { ...source, least: 1 },
  ];
  for (const numbers of cases)
    assert.ok(
      near(weighed(numbers), defined(numbers)),
      `${JSON.stringify(numbers)}: ${weighed(numbers)}, ${defined(numbers)}`,
    );
  assert.notEqual(defined(source), defined({ ...source, clip: 0.1 }));
});

test("a rollout that lacks a hint of either kind does not train, and a sign never turns", () => {
  const weights = made(contrast, { model: "teacher", wrong })(batch, stats, advantages, clock);
  assert.deepEqual([...weights.subarray(7)], [0, 0, 0, 0]);
  assert.ok(
    made(contrast, { model: "teacher", wrong, gain: 50, clip: 50 })(batch, stats, advantages, clock).every(
      (w) => w >= 0,
    ),
  );
});

test("the gain may fall over the run", () => {
  const gain = { schedule: "linear", from: 0.5, to: 0, over: 50 } as const;
  const late = made(contrast, { model: "teacher", wrong, gain })(batch, stats, advantages, {
    step: 50,
    stageStep: 50,
  });
  // One kind of token is left, 6 of 10 that train.
  assert.ok([0, 1, 2, 3, 4, 6].every((t) => near(late[t], 10 / 6)));
});

test("it asks for the teacher after each hint, and says what is missing", () => {
  const weight = made(contrast, { model: "teacher", wrong });
  assert.deepEqual(weight.models, ["teacher@sibling", "teacher@wrong_sibling", "teacher@wrong_sibling-2"]);
  assert.throws(() => weight(batch, {}, advantages, clock), /logp:teacher@sibling/);
});
