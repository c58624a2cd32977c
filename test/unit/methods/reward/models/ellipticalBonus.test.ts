/** RepExp's bonus from its definition, the projection's law, and the term over a model's own states. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { randomStream } from "../../../../../server/lib/random.ts";
import type { TermValue } from "../../../../../server/core/slots/reward.ts";
import {
  ellipticalBonus,
  ellipticalBonuses,
} from "../../../../../server/methods/reward/models/ellipticalBonus.ts";
import { projected, sparseProjection } from "../../../../../server/methods/reward/models/sparseProjection.ts";
import { batchOf } from "../../../../support/batch.ts";
import { FakeModels, fakeTokenizer } from "../../../../support/fakePolicy.ts";
import { made, near } from "../../../support.ts";
import { plain } from "../support.ts";

const features = [
  [1, 0],
  [1, 0],
  [-2, 3],
].map((one) => Float64Array.from(one));

describe("elliptical_bonuses", () => {
  it("are φᵀ Σ⁻¹ φ of centred features", () => {
    // Centred: (1, −1), (1, −1), (−2, 2); Σ = λ I + 6 · [[1, −1], [−1, 1]], eigenvalues λ and 12 + λ along φ.
    const lambda = 0.01;
    const [a, b, c] = ellipticalBonuses(features, lambda, "leverage");
    assert.ok(near(a!, 2 / (12 + lambda)) && near(b!, a!) && near(c!, 8 / (12 + lambda)));
  });

  it("leave the response itself out of the covariance where asked", () => {
    const lambda = 0.5;
    const [a, , c] = ellipticalBonuses(features, lambda, "leave_one_out");
    // Along φ the others leave 12 − 2 and 12 − 8.
    assert.ok(near(a!, 2 / (10 + lambda)) && near(c!, 8 / (4 + lambda)));
  });

  it("are 0 for one response, and for equal ones", () => {
    assert.deepEqual(ellipticalBonuses([features[2]!], 0.01, "leverage"), [0]);
    assert.deepEqual(ellipticalBonuses([features[0]!, features[0]!], 0.01, "leverage"), [0, 0]);
  });
});

describe("sparse projection", () => {
  const from = 256;
  const projection = sparseProjection(from, 64, randomStream("test"));

  it("has a share of 1/√from entries of ±from^¼ / √to", () => {
    const entries = projection.places.flat();
    const share = entries.length / (from * 64);
    assert.ok(Math.abs(share - 1 / 16) < 0.006, `${share}`);
    for (const { factor } of entries) assert.ok(near(Math.abs(factor), 4 / 8));
    const positive = entries.filter(({ factor }) => factor > 0).length / entries.length;
    assert.ok(Math.abs(positive - 0.5) < 0.05, `${positive}`);
  });

  it("keeps lengths in the mean", () => {
    const vector = Float64Array.from({ length: from }, (_, i) => Math.sin(i));
    const length = (one: ArrayLike<number>): number => Array.from(one).reduce((sum, x) => sum + x * x, 0);
    let sum = 0;
    for (let k = 0; k < 50; k++)
      sum += length(projected(sparseProjection(from, 64, randomStream("test", k)), vector));
    assert.ok(Math.abs(sum / 50 / length(vector) - 1) < 0.1, `${sum / 50 / length(vector)}`);
  });
});

const encode = (text: string): number[] => [...fakeTokenizer.encode(text)];

async function scored(
  texts: readonly string[],
  right: readonly number[],
  more: Record<string, unknown> = {},
): Promise<ReturnType<typeof plain>[]> {
  const models = new FakeModels({ seed: 3 });
  await models.get("policy").snapshot("reference");
  const batch = batchOf(
    texts.map((text, row) => ({ context: encode("ask"), tokens: encode(text), group: row < 4 ? 0 : 1 })),
  );
  const said = (): readonly TermValue[] => right.map((one) => ({ kind: "value", value: one }));
  const clock = { step: 0, stageStep: 0 };
  const term = made(ellipticalBonus, more);
  return (await term.score(batch, { models, tokenizer: fakeTokenizer, clock, said })).map(plain);
}

describe("elliptical_bonus", () => {
  it("pays the response that is unlike its siblings most, where one is right", async () => {
    const [a, b, c, d, ...others] = await scored(
      ["aaa", "aaa", "aaa", "zzz", "aaa", "aaa", "aaa", "zzz"],
      [0, 1, 0, 0, 0, 0, 0, 0],
    );
    assert.ok(a === b && b === c && (d as number) > 2 * (a as number), `${a} ${d}`);
    assert.deepEqual(others, [0, 0, 0, 0]);
  });

  it("reads the response's states alone, however long it is", async () => {
    const [a, b, c, d] = await scored(["a", "aa", "aaaa", "zzz"], [0, 1, 0, 0]);
    for (const one of [b, c])
      assert.ok(Math.abs((one as number) - (a as number)) < 1e-4, `${one} is not ${a}`);
    assert.ok((d as number) > 2 * (a as number));
  });

  it("pays every group without the gate, up to its share of the directions", async () => {
    const all = await scored(["aaa", "aaa", "aaa", "zzz"], [0, 0, 0, 0], { gate: "none", dimension: 400 });
    // Fewer directions than dimensions, one of them taken: the leverage is 1/4 · 1/3 of three, 3/4 of one, less λ's part.
    for (const [row, share] of [1 / 12, 1 / 12, 1 / 12, 3 / 4].entries())
      assert.ok(Math.abs((all[row] as number) - share) < 0.05, `${all[row]} is not near ${share}`);
  });

  it("says of a response without tokens that it is paid nothing, and of a failed term its error", async () => {
    const models = new FakeModels({ seed: 3 });
    await models.get("policy").snapshot("reference");
    const batch = batchOf(["aaa", "", "zzz"].map((text) => ({ context: [1], tokens: encode(text) })));
    const said = (): readonly TermValue[] => [
      { kind: "value", value: 1 },
      { kind: "value", value: 1 },
      { kind: "error", message: "late" },
    ];
    const clock = { step: 0, stageStep: 0 };
    const term = made(ellipticalBonus, {});
    const values = (await term.score(batch, { models, tokenizer: fakeTokenizer, clock, said })).map(plain);
    assert.deepEqual(values, [0, 0, "late"]);
  });
});
