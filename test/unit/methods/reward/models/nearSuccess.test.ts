/** Partial credit by distance to a group's successes, against the released rule. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TermValue } from "../../../../../server/core/slots/reward.ts";
import { nearSuccess, normalised } from "../../../../../server/methods/reward/models/nearSuccess.ts";
import { distance } from "../../../../../server/lib/algebra/linear.ts";
import { centresOf } from "../../../../../server/methods/reward/models/successCentres.ts";
import { batchOf } from "../../../../support/batch.ts";
import { FakeModels, fakeTokenizer } from "../../../../support/fakePolicy.ts";
import { made, near } from "../../../support.ts";
import { plain } from "../support.ts";

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

describe("centres of successes", () => {
  it("are those of clusters, on the numbers as they were", () => {
    // Standardised, the first numbers lie about 0.02 apart within a pair and 2 between the pairs.
    const found = centresOf([
      [10, 1],
      [10.2, 1],
      [30, 1],
      [30.2, 1],
    ]).map((one) => Array.from(one));
    assert.deepEqual(
      found.map(([x]) => Number(x!.toFixed(6))),
      [10.1, 30.1],
    );
    assert.ok(
      found.every(([, y]) => y === 1),
      "a number that is the same in all stays",
    );
  });

  it("are the mean of all where no two are near, and leave out a success that is far from a cluster", () => {
    assert.deepEqual(Array.from(centresOf([[0], [4]])[0]!), [2]);
    assert.equal(centresOf([[0], [4]]).length, 1);
    const found = centresOf([[0], [0.1], [8]]);
    assert.deepEqual(
      found.map((one) => one[0]),
      [0.05],
    );
  });

  it("chain what steps of at most one half connect", () => {
    const line = Array.from({ length: 9 }, (_, i) => [i]);
    // The standard deviation of 0 … 8 is 2.58: neighbours lie 0.39 apart.
    assert.deepEqual(
      centresOf(line).map((one) => one[0]),
      [4],
    );
  });
});

describe("normalised distances", () => {
  it("go from 0 to 1, and are one half where all are equal", () => {
    assert.deepEqual(normalised([3, 1, 2]), [1, 0, 0.5]);
    assert.deepEqual(normalised([2, 2]), [0.5, 0.5]);
    assert.deepEqual(normalised([7]), [0.5]);
  });
});

const encode = (text: string): number[] => [...fakeTokenizer.encode(text)];

async function scored(texts: readonly string[], right: readonly (number | TermValue)[]) {
  const models = new FakeModels({ seed: 3 });
  await models.get("policy").snapshot("reference");
  const batch = batchOf(
    texts.map((text, row) => ({ context: encode("ask"), tokens: encode(text), group: row < 4 ? 0 : 1 })),
  );
  const said = (): readonly TermValue[] =>
    right.map((one): TermValue => (typeof one === "number" ? { kind: "value", value: one } : one));
  const clock = { step: 0, stageStep: 0 };
  const values = await made(nearSuccess, {}).score(batch, { models, tokenizer: fakeTokenizer, clock, said });
  const asked = encode("ask");
  const vectors = await models.get("policy").embed(
    texts.map((text) => Int32Array.from([...asked, ...encode(text)])),
    "mean",
    "reference",
  );
  return { values: values.map(plain), vectors };
}

describe("near_success", () => {
  it("is 1 of a success, and 0.6 σ(10 (½ − d̃)) of a failure by its distance to the success", async () => {
    const { values, vectors } = await scored(["aaaa", "aaab", "aazz", "zzzz"], [1, 0, 0, 0]);
    assert.equal(values[0], 1);
    const distances = [1, 2, 3].map((row) => distance(vectors[0]!, vectors[row]!));
    const [least, most] = [Math.min(...distances), Math.max(...distances)];
    distances.forEach((own, i) => {
      const wanted = 0.6 * sigmoid(10 * (0.5 - (own - least) / (most - least)));
      assert.ok(near(Number(values[i + 1]), wanted), `${String(values[i + 1])} is not ${wanted}`);
    });
    assert.ok(Number(values[1]) > Number(values[3]), "the nearer one earns more");
  });

  it("is 0 of failures without a success, and half of the most of an only failure", async () => {
    const { values } = await scored(
      ["aa", "bb", "cc", "dd", "aa", "bb"],
      [0, 0, 0, { kind: "error", message: "late" }, 1, 0],
    );
    assert.deepEqual(values.slice(0, 5), [0, 0, 0, "late", 1]);
    assert.ok(near(Number(values[5]), 0.3));
  });

  it("is 0 of a failure that wrote nothing", async () => {
    const { values } = await scored(["aa", "", "cc", "cd"], [1, 0, 0, 0]);
    assert.equal(values[1], 0);
  });
});
