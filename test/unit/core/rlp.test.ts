/**
 * RLP, reinforcement on plain text: before the next token x write a thought c. The reward is the information gain
 *   r = log π_θ(x | text, c) − log π_ema(x | text),
 * the advantage G/(G−1)·(r − mean r) without a scale, and only thought tokens train.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Batch } from "../../../server/core/rollouts.ts";
import type { RewardTerm } from "../../../server/core/reward.ts";
import type { Advantage } from "../../../server/core/loss.ts";
import { batchOf, task } from "../../support/batch.ts";
import { FakeModels, fakeTokenizer } from "../../support/fakePolicy.ts";

const slice = (batch: Batch, row: number): number[] => [
  ...batch.tokens.subarray(batch.offsets[row]!, batch.offsets[row + 1]!),
];
const contextOf = (batch: Batch, row: number): number[] => [
  ...batch.context.values.subarray(batch.context.offsets[row]!, batch.context.offsets[row + 1]!),
];

export const informationGain: RewardTerm = {
  async score(batch, { models, tokenizer }) {
    const next = batch.records.map(({ task: { data } }) =>
      [...tokenizer.encode(typeof data["next"] === "string" ? data["next"] : "")].slice(0, 1),
    );
    const thought = batchOf(
      next.map((tokens, row) => ({ context: [...contextOf(batch, row), ...slice(batch, row)], tokens })),
    );
    const plain = batchOf(next.map((tokens, row) => ({ context: contextOf(batch, row), tokens })));
    const { logp: after } = await models
      .get("policy")
      .score(thought, { model: "policy", channels: ["logp"] });
    const { logp: before } = await models.get("policy").score(plain, { model: "ema", channels: ["logp"] });
    return next.map((tokens, row) =>
      tokens.length === 0 ? { kind: "none" } : { kind: "value", value: after![row]! - before![row]! },
    );
  },
};

export const groupGain: Advantage = ({ total }, batch) => {
  const rows = [...batch.group.keys()];
  const perRow = rows.map((row) => {
    const siblings = rows.filter((other) => batch.group[other] === batch.group[row]);
    const mean = siblings.reduce((sum, other) => sum + total[other]!, 0) / siblings.length;
    return (siblings.length / (siblings.length - 1)) * (total[row]! - mean);
  });
  const advantages = new Float64Array(batch.tokens.length);
  perRow.forEach((value, row) => advantages.fill(value, batch.offsets[row], batch.offsets[row + 1]));
  return advantages.map((value, t) => value * batch.mask[t]!);
};

// @ts-expect-error what does not apply is said so: a term never pays a bare number or undefined
export const bareNumber: RewardTerm = { score: (batch) => Promise.resolve(batch.records.map(() => 0)) };

test("RLP on plain text: a thought that makes the next token likelier is rewarded for it", async () => {
  const models = new FakeModels({ seed: 5 });
  const policy = models.get("policy");
  await policy.snapshot("ema");
  const plainText = task("corpus:12", { prompt: "ab", data: { next: "c" } });
  const context = [...fakeTokenizer.encode("ab")];
  const record = { task: plainText };
  const batch = batchOf([
    { context, tokens: [3], record },
    { context, tokens: [4, 5], record },
    { context, tokens: [6], record },
  ]);
  const values = await informationGain.score(batch, {
    models,
    tokenizer: fakeTokenizer,
    clock: { step: 0, stageStep: 0 },
  });
  const total = Float64Array.from(values, (value) => (value.kind === "value" ? value.value : Number.NaN));
  const advantages = groupGain({ sources: [], total, errored: new Uint8Array(3) }, batch, {});
  // With G/(G−1) the advantage is the reward less the mean of the others: the leave-one-out baseline.
  assert.ok(Math.abs(advantages[0]! - (total[0]! - (total[1]! + total[2]!) / 2)) < 1e-12);
  assert.equal(advantages[1], advantages[2]);
  await policy.update(batch, { channels: ["logp"], unit: "group" }, () => ({
    loss: 0,
    gradients: { logp: advantages.map((a) => -a) },
  }));
  await policy.snapshot("ema", 0.999);
  const best = total.indexOf(Math.max(...total));
  const was = await policy.score(batch, { model: "ema", channels: ["logp"] });
  const is = await policy.score(batch, { model: "policy", channels: ["logp"] });
  assert.ok(is.logp![batch.offsets[best]!]! > was.logp![batch.offsets[best]!]!);
});
