import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { epsilonOf } from "../../../../server/methods/auxiliary/epsilon.ts";
import { Mixture } from "../../../../server/methods/auxiliary/mixture.ts";
import { lossWeights, Reweighting } from "../../../../server/methods/auxiliary/reweighting.ts";
import { demonstrated } from "../../../../server/run/stages/ownLikelihood.ts";
import { piecesOf } from "../../../../server/run/stages/demonstrations.ts";
import { joinedLoss, type LossPart } from "../../../../server/run/step/update/lossParts.ts";
import { gaussian } from "../../../../server/engine/weights/optimizer.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { Batch } from "../../../../server/core/rollouts.ts";
import type { Stats, Weigh } from "../../../../server/core/policy.ts";
import { batchOf } from "../../../support/batch.ts";
import { near } from "../../support.ts";

const rows = (...tokens: readonly number[]): Batch =>
  batchOf(tokens.map((count) => ({ tokens: Array.from({ length: count }, () => 1), context: [0] })));

/** ∂loss/∂x by central differences, of every token of a channel. */
function slopes(weigh: Weigh, batch: Batch, now: Record<string, Float64Array>, channel: string): number[] {
  return [...now[channel]!.keys()].map((i) => {
    const at = (by: number): number =>
      weigh(
        { ...now, [channel]: now[channel]!.map((value, j) => (i === j ? value + by : value)) } as Stats,
        batch,
      ).loss;
    return (at(1e-6) - at(-1e-6)) / 2e-6;
  });
}

describe("losses side by side", () => {
  it("a likelihood with an entropy bonus has the slopes it says", () => {
    const batch = { ...rows(2, 1), mask: Uint8Array.of(1, 0, 1) };
    const now = { logp: Float64Array.of(-1, -5, -2), entropy: Float64Array.of(0.5, 9, 1) };
    const weigh = demonstrated({ entropy: 0.1, gap: 0 });
    const { loss, gradients } = weigh(now, batch);
    assert.ok(near(loss, (1 + 2) / 2 - (0.1 * (0.5 + 1)) / 2));
    for (const channel of ["logp", "entropy"] as const)
      slopes(weigh, batch, now, channel).forEach((slope, i) =>
        assert.ok(near(gradients[channel]![i], slope, 1e-8)),
      );
  });
  it("a gap is what tokens lack of the likeliest ones, with the slopes it says", () => {
    const batch = { ...rows(2, 1), mask: Uint8Array.of(1, 0, 1) };
    const now = { logp: Float64Array.of(-1, -5, -2), greedy: Float64Array.of(-0.5, -0.1, -2) };
    const weigh = demonstrated({ entropy: 0, gap: 0.2 });
    const { loss, gradients } = weigh(now, batch);
    assert.ok(near(loss, (1 + 2) / 2 + (0.2 * 0.5) / 2));
    for (const channel of ["logp", "greedy"] as const)
      slopes(weigh, batch, now, channel).forEach((slope, i) =>
        assert.ok(near(gradients[channel]![i], slope, 1e-8)),
      );
  });
  it("each part sees its own rows, and the sum has their weights", () => {
    const part = (name: string, batch: Batch, weight: number): LossPart => ({
      name,
      batch,
      channels: ["logp"],
      weigh: demonstrated({ entropy: 0, gap: 0 }),
      weight,
    });
    const parts = [part("policy", rows(2), 1), part("sft", rows(1, 3), 0.5)];
    const { batch, weigh, channels } = joinedLoss(parts);
    assert.deepEqual([batch.rows, batch.groups, ...channels], [3, 2, "logp"]);
    const now = { logp: Float64Array.of(-1, -2, -3, -4, -5, -6) };
    const { loss, gradients, metrics } = weigh(now, batch);
    assert.ok(near(loss, 1.5 + 0.5 * 4.5));
    assert.deepEqual([...gradients.logp!], [-0.5, -0.5, -0.125, -0.125, -0.125, -0.125]);
    assert.deepEqual(
      { "loss/policy": metrics!["loss/policy"], "loss/sft": metrics!["loss/sft"] },
      { "loss/policy": 1.5, "loss/sft": 4.5 },
    );
    slopes(weigh, batch, now, "logp").forEach((slope, i) => assert.ok(near(gradients.logp![i], slope, 1e-8)));
    const [only] = parts;
    assert.equal(joinedLoss([only!]), only);
  });
  it("a piece of text gives its first token as context", () => {
    const batch = piecesOf(Int32Array.of(5, 6, 7, 8), [0, 1], 3);
    assert.deepEqual(
      [[...batch.context.values], [...batch.tokens], [...batch.offsets]],
      [
        [5, 6],
        [6, 7, 7, 8],
        [0, 2, 4],
      ],
    );
  });
});

describe("recap", () => {
  it("weighs K losses by softmax(s / T), summing to K", () => {
    const windows = [
      { before: [2, 2], now: [1, 1] },
      { before: [1, 1], now: [1, 3] },
    ];
    // s = 1/2 + 0, and 2/1 + 1/(2 + 1)
    const [fell, rose] = lossWeights(windows, 5);
    const ratio = Math.exp((2 + 1 / 3 - 0.5) / 5);
    assert.ok(near(rose! / fell!, ratio));
    assert.ok(near(fell! + rose!, 2));
    assert.deepEqual(lossWeights([windows[0]!, windows[0]!], 1), [1, 1]);
    assert.deepEqual(lossWeights([{ before: [0, 0], now: [0, 0] }], 5), [1]);
  });
  it("waits for two windows of every loss, and comes back from a checkpoint", () => {
    const one = new Reweighting(2, 5);
    for (const loss of [-4, 4, 1, 1]) one.observe("policy", loss);
    one.observe("sft", 1);
    assert.equal(one.weights().size, 0);
    for (const loss of [1, 1, 1]) one.observe("sft", loss);
    one.observe("sft", Number.NaN);
    const weights = one.weights();
    assert.ok(weights.get("sft")! > weights.get("policy")!);
    const again = new Reweighting(2, 5);
    again.load(one.save());
    assert.deepEqual(again.weights(), weights);
  });
});

describe("mixing", () => {
  const options = {
    kind: "mixing",
    ...{ start: 0.8, low: 0.05, high: 0.95, every: 20, entropyRate: 0.1, metaRate: 2 },
    entropy: "first",
  } as const;
  it("moves μ by η · lr ⟨∇L_val, ∇L_SFT − ∇L_RL⟩ + η_H (H* − H)", () => {
    const one = new Mixture(options);
    one.move(1.5, 10);
    // H* is the first entropy, and no update has said a rate yet.
    assert.deepEqual([one.factor("policy"), one.factor("sft")], [1 - 0.8, 0.8]);
    one.updated(0.01);
    one.move(1, 3);
    assert.ok(near(one.factor("sft"), 0.8 + 2 * 0.01 * 3 + 0.1 * 0.5));
    const again = new Mixture(options);
    again.load(one.save());
    for (const mixture of [one, again]) mixture.move(2.5, 1);
    assert.ok(near(one.factor("sft"), 0.8 + 0.06 + 0.05 + 2 * 0.01 - 0.1));
    assert.equal(again.factor("sft"), one.factor("sft"));
  });
  it("stays within its bounds, and where it is without an entropy", () => {
    const one = new Mixture({ ...options, entropy: 2 });
    one.move(100, 0);
    assert.equal(one.factor("sft"), 0.05);
    one.move(-100, 0);
    assert.equal(one.factor("sft"), 0.95);
    one.move(Number.NaN, 0);
    assert.equal(one.factor("policy"), 1 - 0.95);
  });
  it("compares gradients every so many steps, and never at a rate of 0", () => {
    const steps = [0, 1, 19, 20, 40];
    assert.deepEqual(
      steps.map((step) => new Mixture(options).compares(step)),
      [true, false, false, true, true],
    );
    assert.ok(!steps.some((step) => new Mixture({ ...options, metaRate: 0 }).compares(step)));
  });
});

it("epsilon composes Gaussian steps by zero-concentrated privacy", () => {
  assert.equal(epsilonOf(0, 1, 1e-5), 0);
  // ρ = 8/(2·4) = 1
  assert.ok(near(epsilonOf(8, 2, 1e-5), 1 + 2 * Math.sqrt(Math.log(1e5))));
  assert.equal(epsilonOf(1, 0, 1e-5), Number.POSITIVE_INFINITY);
});

it("noise is Gaussian: mean, deviation and tails", () => {
  const values = gaussian(20_001, 3, randomStream(1, "noise"));
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);
  assert.ok(Math.abs(mean) < 0.1 && Math.abs(deviation - 3) < 0.06, `${mean} ± ${deviation}`);
  const outside = values.filter((value) => Math.abs(value) > 6).length / values.length;
  assert.ok(Math.abs(outside - 0.0455) < 0.006, `${outside}`);
});
