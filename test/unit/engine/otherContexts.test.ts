/** A model that reads the rows after other contexts: `<model>@<name>`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toPublic } from "../../../server/engine/formats/huggingFace/layout.ts";
import type { LanguageModel } from "../../../server/engine/policy.ts";
import type { PolicyOptions } from "../../../server/engine/index.ts";
import { Stream } from "../../../server/engine/random.ts";
import type { Batch } from "../../../server/core/rollouts.ts";
import type { Channel } from "../../../server/core/policy.ts";
import { ragged } from "../../support/batch.ts";
import { logitsOf, widen } from "./reference.ts";
import {
  batchOf,
  coefficientsOf,
  largestDifference,
  open,
  plan,
  randomRows,
  stir,
  weighBy,
} from "./support.ts";

const rows = randomRows([
  [5, 6],
  [1, 3],
  [9, 12],
  [2, 1],
  [0, 5],
]);
/** Longer than the rows' own, shorter, and one row's own. */
const shown = rows.map(({ context }, row) =>
  row === 1 ? [...context] : row === 2 ? [3] : [4, 2, 7, ...context, 9, 1],
);
const batch: Batch = { ...batchOf(rows), contexts: { sibling: ragged(shown) } };
const behind: Batch = { ...batchOf(rows), trainContext: ragged(shown) };
const n = batch.tokens.length;

async function pair(options: Partial<PolicyOptions> = {}): Promise<LanguageModel> {
  const policy = await open(options);
  stir(policy);
  await policy.snapshot("teacher");
  const random = new Stream("moved");
  const moved = Object.entries(policy.readTrained()).map(
    ([name, values]) => [name, values.map((value) => value + 0.1 * random.normal())] as const,
  );
  policy.writeWeights(Object.fromEntries(moved));
  return policy;
}

test("a model scores the rows after its teacher context", async () => {
  const policy = await pair();
  const channels: Channel[] = ["logp", "entropy"];
  const there = await policy.score(batch, { model: "teacher@sibling", channels });
  const wanted = await policy.score(behind, { model: "teacher", channels });
  for (const channel of channels)
    assert.ok(largestDifference(there[channel]!, wanted[channel]!) < 1e-6, channel);
  const own = await policy.score(batch, { model: "teacher", channels });
  assert.ok(largestDifference(own.logp!, wanted.logp!) > 1e-2);
  const { [`logp:teacher@sibling`]: beside } = await policy.score(batch, {
    model: "policy",
    channels: ["logp", "logp:teacher@sibling"],
  });
  assert.ok(largestDifference(beside!, wanted.logp!) < 1e-6);
  policy.close();
});

const logSoftmax = (logits: Float64Array): Float64Array => {
  const most = Math.max(...logits);
  const lse = most + Math.log(logits.reduce((sum, value) => sum + Math.exp(value - most), 0));
  return logits.map((value) => value - lse);
};

test("the divergence is from the model with its contexts, and only the policy moves", async () => {
  const channel: Channel = "kl:teacher@sibling:reverse";
  const policy = await pair();
  const publics = [policy.readWeights(), policy.readTrained("teacher")].map((values) =>
    widen(toPublic(policy.shape, values)),
  );
  const wanted = rows.flatMap(({ context, tokens }, row) => {
    const [own, other] = [context, shown[row]!].map((front, model) => {
      const all = [...(front.length === 0 ? [policy.tokenizer.bos] : front), ...tokens];
      return logitsOf(policy.shape, publics[model]!, all)
        .slice(all.length - tokens.length - 1)
        .map(logSoftmax);
    });
    return tokens.map((_, t) =>
      own![t]!.reduce((sum, value, v) => sum + Math.exp(value) * (value - other![t]![v]!), 0),
    );
  });
  const { [channel]: found } = await policy.score(batch, { model: "policy", channels: [channel] });
  assert.ok(largestDifference(found!, Float64Array.from(wanted)) < 1e-4);

  // d/dθ of Σ c · KL by central differences of one matrix's weights.
  const c = coefficientsOf(n, "shown");
  const gradient = policy.gradients(batch, plan([channel]), weighBy({ [channel]: c }));
  const weights = policy.readTrained();
  const name = "0.qkv";
  for (const at of [0, 17, 101]) {
    const sums = [1e-2, -1e-2].map(async (step) => {
      const moved = weights[name]!.slice();
      moved[at]! += step;
      policy.writeWeights({ ...weights, [name]: moved });
      const stats = await policy.score(batch, { model: "policy", channels: [channel] });
      return stats[channel]!.reduce((sum, value, i) => sum + c[i]! * value, 0);
    });
    const slope = ((await sums[0]!) - (await sums[1]!)) / 2e-2;
    assert.ok(
      Math.abs(slope - gradient[name]![at]!) < 2e-3 * Math.max(1, Math.abs(slope)),
      `${slope} ${gradient[name]![at]}`,
    );
  }
  policy.close();
});

test("pieces, micro-batches and kept activations change nothing of it", async () => {
  const channel: Channel = "kl:teacher@sibling:forward";
  const c = coefficientsOf(n, "pieces");
  const policy = await pair();
  const wanted = policy.gradients(batch, plan([channel]), weighBy({ [channel]: c }));
  for (const options of [{ logits: 500 }, { kept_bytes: 0 }, { threads: 1, micro_tokens: 24 }]) {
    const other = await pair(options);
    const tensors = other.counters().tensors;
    const found = other.gradients(batch, plan([channel]), weighBy({ [channel]: c }));
    for (const [name, values] of Object.entries(wanted))
      assert.ok(largestDifference(values, found[name]!) < 1e-4, name);
    assert.equal(other.counters().tensors, tensors);
    other.close();
  }
  policy.close();
});
