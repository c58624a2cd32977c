/**
 * Observed tokens never train: whatever log-probs, critic values, advantages and targets are at them, loss, gradients and
 * the weights after the update are the same, bit for bit. The control: another observed text changes them.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Algorithm, contextOf } from "../../../../server/algorithm/algorithm.ts";
import { withReturns } from "../../../../server/algorithm/advantages/tokenAdvantages.ts";
import { columnOfAdvantages } from "../../../../server/algorithm/advantages/advantageColumns.ts";
import { tokensOf } from "../../../../server/algorithm/advantages/tokenColumn.ts";
import { columnOf } from "../../../../server/algorithm/rewards/rewards.ts";
import { recordedValue } from "../../../../server/analysis/recorded.ts";
import { origin, type Batch } from "../../../../server/core/rollouts.ts";
import type { Channel, Stats, Weighed } from "../../../../server/core/policy.ts";
import type { ObjectiveInput } from "../../../../server/core/loss.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { objectives } from "../../../../server/methods/objective/index.ts";
import { ragged } from "../../../support/batch.ts";
import { some } from "../../../support/thorough.ts";
import { open, plan, stir, tinyModel } from "../../engine/support.ts";
import { batchOf, configOf, context, row } from "../../support.ts";
import { randomInput } from "./differences.ts";
import { familyCases } from "./familyCases.ts";
import { surrogateCases, type Case } from "./surrogateCases.ts";

const cases: Readonly<Record<string, readonly Case[]>> = { ...surrogateCases, ...familyCases };
const all = objectives.flatMap((declaration) =>
  (cases[declaration.name] ?? [{}]).map(({ params = {} }) => ({
    name: `${declaration.name} ${JSON.stringify(params)}`,
    objective: declaration.create(declaration.params.parse(params), context),
  })),
);

/** What a column may hold where nothing should read it. */
const junk = (t: number): number => [Number.NaN, 1e9, Number.NEGATIVE_INFINITY, -7, 0][t % 5]!;
const spoiled = (column: Float64Array, { origin: origins }: Batch): Float64Array =>
  column.map((value, t) => (origins[t] === origin.observed ? junk(t) : value));
const spoiledStats = (stats: Stats, batch: Batch): Stats =>
  Object.fromEntries(
    Object.entries(stats).map(([channel, column]) => [channel, column && spoiled(column, batch)]),
  );
function spoiledInput(input: ObjectiveInput): ObjectiveInput {
  const { batch } = input;
  const { logp_old, values, returns } = batch.columns;
  const columns = {
    ...batch.columns,
    ...(logp_old && { logp_old: spoiled(logp_old, batch) }),
    ...(values && { values: spoiled(values, batch) }),
    ...(returns && { returns: spoiled(returns, batch) }),
  };
  return {
    ...input,
    batch: { ...batch, columns },
    now: spoiledStats(input.now, batch),
    old: spoiledStats(input.old, batch),
    advantages: spoiled(input.advantages, batch),
  };
}

function same(found: Weighed, wanted: Weighed, batch: Batch): void {
  assert.ok(Object.is(found.loss, wanted.loss), `the loss is ${found.loss}, not ${wanted.loss}`);
  for (const [channel, gradient] of Object.entries(wanted.gradients) as [Channel, Float64Array][]) {
    assert.deepEqual([...(found.gradients[channel] ?? [])], [...gradient], channel);
    gradient.forEach((value, t) => {
      if (batch.origin[t] === origin.observed) assert.equal(Math.abs(value), 0, `${channel} of token ${t}`);
    });
  }
}

for (const { name, objective } of all)
  test(`${name}: its loss reads nothing of observed tokens`, () => {
    for (const seed of [1, 2, 3])
      for (const pairs of [false, true]) {
        const input = randomInput(seed, { pairs });
        same(objective.loss(spoiledInput(input)), objective.loss(input), input.batch);
      }
  });

/** Rows that an engine can read: those with tokens, after a prompt. */
function readable(input: ObjectiveInput): ObjectiveInput {
  const { batch } = input;
  return {
    ...input,
    batch: { ...batch, context: ragged(Array.from({ length: batch.rows }, (_, i) => [5, 9 + i])) },
  };
}

const heads = ["value", "q", "q1", "q2", "v", "v1", "v2", "reward"];

/** One update of a fresh model: its loss, its gradients, and the weights after it. */
async function updated(
  channels: readonly Channel[],
  batch: Batch,
  weigh: (now: Stats) => Weighed,
): Promise<{ readonly weighed: Weighed; readonly weights: Readonly<Record<string, Float32Array>> }> {
  const policy = await open({
    model: {
      ...tinyModel({ layers: 1 }),
      heads: heads.map((name) => ({ name, detach: false, words: name.startsWith("q") })),
    },
  });
  stir(policy);
  await policy.snapshot("reference");
  let weighed: Weighed | undefined;
  await policy.update(batch, plan(channels), (now) => (weighed = weigh(now)));
  const weights = policy.readWeights();
  policy.close();
  return { weighed: weighed!, weights };
}

/** The same rows, with other words where something was observed. */
const otherWords = (batch: Batch): Batch => ({
  ...batch,
  tokens: batch.tokens.map((token, t) => (batch.origin[t] === origin.observed ? (token + 40) % 99 : token)),
});

/** A token that trains after an observed one: the policy read what was observed before it wrote this. */
function readsObserved({ batch }: ObjectiveInput, { gradients }: Weighed): boolean {
  const moves = (t: number): boolean => Object.values(gradients).some((column) => (column?.[t] ?? 0) !== 0);
  return Array.from({ length: batch.rows }, (_, row) => row).some((row) => {
    let seen = false;
    for (let t = batch.offsets[row]!; t < batch.offsets[row + 1]!; t++) {
      seen ||= batch.origin[t] === origin.observed;
      if (seen && moves(t)) return true;
    }
    return false;
  });
}

const inputs = Array.from({ length: 40 }, (_, seed) => randomInput(seed, { pairs: true }));

for (const { name, objective } of some(all, 5))
  test(`${name}: an update by the engine moves no weight by an observed token, but by what was said`, async () => {
    const input = readable(inputs.find((one) => readsObserved(one, objective.loss(one)))!);
    const worse = spoiledInput(input);
    const { batch } = input;
    // Near the model's own log-probs, so that no clip holds the tokens.
    let logp: Float64Array | undefined;
    const weighWith =
      (own: ObjectiveInput) =>
      (now: Stats): Weighed => {
        logp ??= now.logp?.map((value) => value - 0.02);
        const anchor = logp && (own === worse ? spoiled(logp, batch) : logp);
        return objective.loss({ ...own, now, old: { ...own.old, ...(anchor && { logp: anchor }) } });
      };
    const plain = await updated(objective.channels, batch, weighWith(input));
    const other = await updated(objective.channels, worse.batch, (now) =>
      weighWith(worse)(spoiledStats(now, batch)),
    );
    same(other.weighed, plain.weighed, batch);
    assert.deepEqual(other.weights, plain.weights);
    const said = await updated(objective.channels, otherWords(batch), weighWith(input));
    assert.notDeepEqual(said.weights, plain.weights, "the control: the observed text is read");
  });

/** Two turns with an answer between them, by four rollouts of two groups. */
const turns = Array.from({ length: 8 }, (_, i) =>
  row(`g${i % 2}`, i >> 1, {
    tokens: Array.from({ length: 8 }, (__, t) => 3 + ((7 * i + 5 * t) % 90)),
    origin: ["written", "written", "written", "observed", "observed", "written", "written", "observed"],
    rewards: { right: { level: "turn", values: [i % 3, null, (i * 5) % 4] } },
    turns: [
      { role: "assistant", start: 0, end: 3 },
      { role: "user", start: 3, end: 5 },
      { role: "assistant", start: 5, end: 8 },
    ],
  }),
);

/** Configs of the whole chain: what it reads by token in addition to the objective. */
const chains = {
  "KL, entropy and a correction": `
kl: [{ model: reference, coefficient: 0.1, place: loss, estimator: k3 }]
objective: { entropy: 0.01, correction: [{ use: truncate }] }`,
  "a penalty in the reward": `
kl: [{ model: reference, coefficient: 0.1, place: reward, estimator: k1 }]
advantage: { level: token, baseline: none, scale: none }`,
  "a critic": `
model: { value_heads: [value] }
advantage: { baseline: { use: critic, lambda: 0.9 }, level: token, scale: none, gamma: 0.95, whiten: tokens }`,
  turns: `
advantage: { level: turn, baseline: leave_one_out, scale: none, gamma: 0.9 }`,
  "whole responses": `
advantage: { baseline: group_mean, scale: group_std }`,
};

function chained(text: string, spoil: boolean): { readonly weighed: Weighed; readonly batch: Batch } {
  const { top } = configOf(
    `tasks: [{ env: countdown }]\nreward: { terms: { right: equation } }${text}\n`,
    undefined,
    true,
  );
  const algorithm = new Algorithm(top, contextOf(top, { random: context.random }));
  const clock = { step: 0, stageStep: 0 };
  const random = randomStream(3, "chain");
  const written = batchOf(turns);
  const column = (): Float64Array => {
    const values = Float64Array.from(written.tokens, () => -3 * random.next());
    return spoil ? spoiled(values, written) : values;
  };
  const columns = { logp_old: column(), logp_sampled: column(), values: column(), entropy: column() };
  const batch = algorithm.masked({ ...written, columns });
  const names = ["logp", "logp:reference", "entropy", "head:value", "logp:behaviour", "mean_logp"];
  const stats: Stats = Object.fromEntries(names.map((name) => [name, column()]));
  const scores = algorithm.rewards(
    [
      columnOf(
        "right",
        turns.map((one) => recordedValue(one, "right")),
        batch,
      ),
    ],
    batch,
    clock,
  );
  const advantages = algorithm.advantages(scores.combined, batch, stats, clock);
  const rows = withReturns(batch, advantages);
  const weights = algorithm.tokenWeights(rows, advantages, stats, clock);
  const now: Stats = Object.fromEntries(names.map((name) => [name, column()]));
  const weigh = algorithm.weigh(
    {
      old: stats,
      advantages: spoil
        ? spoiled(tokensOf(columnOfAdvantages(advantages)), batch)
        : columnOfAdvantages(advantages),
      weights,
      scored: scores,
    },
    clock,
  );
  return { weighed: weigh(now, rows), batch: rows };
}

for (const [name, text] of Object.entries(chains))
  test(`the whole chain with ${name} reads nothing of observed tokens`, () => {
    const plain = chained(text, false);
    assert.ok(plain.weighed.gradients.logp!.some((value) => value !== 0));
    same(chained(text, true).weighed, plain.weighed, plain.batch);
  });
