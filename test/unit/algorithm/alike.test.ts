/** Short cuts for rows whose tokens all count alike, and for columns standardised late, against the long way. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mathStep, type MathStep } from "../../../bench/mathBatch.ts";
import { columnOf } from "../../../server/algorithm/rewards/rewards.ts";
import { columnOfAdvantages } from "../../../server/algorithm/advantages/advantageColumns.ts";
import { withReturns, type Advantages } from "../../../server/algorithm/advantages/tokenAdvantages.ts";
import { PerRow } from "../../../server/algorithm/perRow.ts";
import { tokensOf } from "../../../server/algorithm/advantages/tokenColumn.ts";
import { Standardised } from "../../../server/algorithm/advantages/standardised.ts";
import type { Weighed } from "../../../server/core/policy.ts";
import { configOf } from "../support.ts";

const clock = { step: 0, stageStep: 0 };
const stepOf = (text: string): MathStep =>
  mathStep(
    configOf(`tasks: [{ env: countdown }]\nreward: { terms: { right: { use: equation } } }\n${text}\n`).top,
    24,
    37,
  );

function near(actual: ArrayLike<number>, expected: ArrayLike<number>, what: string): void {
  assert.equal(actual.length, expected.length, what);
  for (let i = 0; i < actual.length; i++)
    assert.ok(
      Math.abs(actual[i]! - expected[i]!) <= 1e-12 * (1 + Math.abs(expected[i]!)),
      `${what}, ${i}: ${actual[i]} is not ${expected[i]}`,
    );
}

function advantagesOf({ batch, algorithm, terms, old }: MathStep): Advantages {
  const columns = terms.map((values, i) => columnOf(`term ${i}`, values, batch));
  return algorithm.advantages(algorithm.rewards(columns, batch, clock).combined, batch, old, clock);
}

function weighed(step: MathStep, long: boolean): Weighed {
  const { batch, algorithm, old, now } = step;
  const found = advantagesOf(step);
  const weights = algorithm.tokenWeights(batch, found, old, clock);
  assert.ok(weights instanceof PerRow);
  const advantages = long ? found.tokens : columnOfAdvantages(found);
  const update = { old, advantages, weights: long ? tokensOf(weights) : weights };
  return algorithm.weigh(update, clock)(now, withReturns(batch, found));
}

function same(text: string): void {
  const step = stepOf(text);
  const [short, long] = [weighed(step, false), weighed(step, true)];
  near([short.loss], [long.loss], "the loss");
  assert.deepEqual(Object.keys(short.gradients), Object.keys(long.gradients));
  for (const [channel, column] of Object.entries(long.gradients))
    near(Object.entries(short.gradients).find(([name]) => name === channel)![1]!, column!, channel);
  assert.deepEqual(Object.keys(short.metrics ?? {}), Object.keys(long.metrics ?? {}));
  for (const [name, value] of Object.entries(long.metrics ?? {}))
    near([short.metrics![name]!], [value], name);
  assert.deepEqual(short.touched, long.touched);
  assert.ok(
    Object.values(long.touched ?? {}).some((tokens) => tokens.includes(1)),
    "no rule acted",
  );
}

const critic = (more: string, value: string): string => `model: { value_heads: [value] }
advantage: { baseline: { use: critic, gamma: 0.98, lambda: 0.9 }, scale: none${more} }
objective: { use: clipped, dual: 1.05, aggregate: sequence_mean, value: ${value} }`;

test("rows whose tokens count alike have the same loss, derivatives and touched tokens as tokens with weights", () => {
  same("objective: { use: clipped, low: 0.05, high: 0.05, aggregate: token_mean }");
  same(critic(", whiten: tokens", "{ use: value_clipped, coefficient: 0.3 }"));
  same(critic("", "{ use: value_clipped, clip: null, coefficient: 0 }"));
  same(critic(", whiten: { over: responses, center: false }", "{ use: value_expectile, coefficient: 0.5 }"));
});

test("losses side by side are the sum of each alone, times its factor, with and without numbers a row", () => {
  const one = "{ use: clipped, low: 0.05, high: 0.05, aggregate: token_mean";
  const value = "value: { use: value_clipped, coefficient: 0.3 }";
  const head =
    "model: { value_heads: [value] }\nadvantage: { baseline: { use: critic, lambda: 0.9 }, scale: none }\n";
  const both = stepOf(
    `${head}objective: ${one}, factor: 0.5, also: [{ use: reinforce, factor: 0.25 }, { use: cispo, factor: 2 }], ${value} }`,
  );
  const alone = [
    { factor: 0.5, step: stepOf(`${head}objective: ${one} }`) },
    { factor: 0.25, step: stepOf(`${head}objective: { use: reinforce, aggregate: token_mean }`) },
    { factor: 2, step: stepOf(`${head}objective: { use: cispo, aggregate: token_mean }`) },
    { factor: 1, step: stepOf(`${head}objective: ${one}, factor: 0, ${value} }`) },
  ].map(({ factor, step }) => ({ factor, found: weighed({ ...both, algorithm: step.algorithm }, true) }));
  for (const long of [false, true]) {
    const found = weighed(both, long);
    const sum = (of: (weighed: Weighed) => number): number =>
      alone.reduce((total, { factor, found }) => total + factor * of(found), 0);
    near([found.loss], [sum(({ loss }) => loss)], "the loss");
    for (const channel of ["logp", "head:value"] as const)
      near(
        found.gradients[channel]!,
        found.gradients[channel]!.map((_, t) => sum(({ gradients }) => gradients[channel]?.[t] ?? 0)),
        channel,
      );
    assert.deepEqual(found.touched?.clip_low, alone[0]!.found.touched?.clip_low);
    assert.equal(found.metrics!["update/clip_fraction"], alone[0]!.found.metrics!["update/clip_fraction"]);
  }
});

test("a value that was not known before is held by no clip, in a row of which all others are known", () => {
  const text = critic("", "{ use: value_clipped, clip: 0.01, coefficient: 1 }");
  const step = stepOf(text);
  const old = { ...step.old, "head:value": step.old["head:value"]!.slice() };
  const found = advantagesOf(step);
  const [row, token] = [3, step.batch.offsets[3]! + 5];
  old["head:value"][token] = Number.NaN;
  const weights = step.algorithm.tokenWeights(step.batch, found, old, clock);
  const at = (one: typeof weights): Weighed =>
    step.algorithm.weigh({ old, advantages: found.tokens, weights: one }, clock)(
      step.now,
      withReturns(step.batch, found),
    );
  const [short, long] = [at(weights), at(tokensOf(weights))];
  near([short.loss], [long.loss], "the loss");
  near(short.gradients["head:value"]!, long.gradients["head:value"]!, "by the value");
  const error = step.now["head:value"]![token]! - found.returns![token]!;
  const length = step.batch.offsets[row + 1]! - step.batch.offsets[row]!;
  near([short.gradients["head:value"]![token]!], [error / length / step.batch.rows], "where it is unknown");
  near([short.metrics!["value/clip_fraction"]!], [long.metrics!["value/clip_fraction"]!], "the clip");
});

test("advantages and returns of a critic are those of the recursion, standardised over all tokens", () => {
  const step = stepOf(critic(", whiten: tokens", "value_clipped"));
  const { batch, old, terms } = step;
  const values = old["head:value"]!;
  const [raw, returns] = [new Float64Array(values.length), new Float64Array(values.length)];
  for (let row = 0; row < batch.rows; row++) {
    const paid = terms[0]![row]!;
    const [from, to] = [batch.offsets[row]!, batch.offsets[row + 1]!];
    for (let t = to - 1; t >= from; t--) {
      const last = t === to - 1;
      const reward = last && paid.kind === "value" ? paid.value : 0;
      const delta = reward + (last ? 0 : 0.98 * values[t + 1]!) - values[t]!;
      raw[t] = delta + (last ? 0 : 0.98 * 0.9 * raw[t + 1]!);
      returns[t] = raw[t]! + values[t]!;
    }
  }
  const mean = raw.reduce((sum, one) => sum + one, 0) / raw.length;
  const variance = raw.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (raw.length - 1);
  const found = advantagesOf(step);
  assert.ok(columnOfAdvantages(found) instanceof Standardised);
  const expected = raw.map((one) => (one - mean) / Math.sqrt(variance + 1e-8));
  near(found.tokens, expected, "advantages");
  near(found.returns!, returns, "returns");
  near(
    found.rows,
    Array.from(batch.records, (_, row) => {
      const own = expected.subarray(batch.offsets[row]!, batch.offsets[row + 1]!);
      return own.reduce((sum, one) => sum + one, 0) / own.length;
    }),
    "rows",
  );
});

test("a row without a reward has no advantage, and counts in no mean", () => {
  const step = stepOf(critic(", whiten: { over: tokens, epsilon: 0 }", "value_clipped"));
  const without = step.terms.map((values) =>
    values.map((value, row) => (row === 0 || row === 5 ? { kind: "none" as const } : value)),
  );
  const found = advantagesOf({ ...step, terms: without });
  const known = found.tokens.filter((_, t) => found.exists[t] === 1);
  assert.equal(known.length, 22 * 37);
  near([known.reduce((sum, one) => sum + one, 0) / known.length], [0], "the mean");
  near([known.reduce((sum, one) => sum + one * one, 0) / (known.length - 1)], [1], "the variance");
  assert.ok(Number.isNaN(found.rows[0]!) && Number.isNaN(found.rows[5]!));
});

test("a late column is the same on a stretch, of some rows and as a whole, before and after it was written", () => {
  const { batch } = stepOf("objective: clipped");
  const by = { shift: 0.25, factor: 3, complete: true };
  const values = Float64Array.from(batch.tokens, (_, t) => Math.sin(t));
  const expected = values.map((value) => (value - 0.25) * 3);
  const late = new Standardised(values, by);
  const [from, to] = [batch.offsets[2]!, batch.offsets[4]!];
  const read = (): void => {
    const into = new Float64Array(to - from);
    late.onto({ from, to }, into);
    near(into, expected.subarray(from, to), "a stretch");
    near(
      tokensOf(late.of(batch, [3, 2])).subarray(to - from - 37),
      expected.subarray(from, from + 37),
      "rows",
    );
  };
  read();
  near(late.tokens, expected, "the whole");
  near(late.tokens, expected, "the whole again");
  read();
});
