import assert from "node:assert/strict";
import { it } from "node:test";
import { rejected } from "../../../../server/methods/mask/rejected.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import { batchOf, made, row } from "../../support.ts";

const rows = [
  row("g", 0, { tokens: [1, 2, 3], logp_old: [-1, -1, -1], logp_sampled: [-1, -2, -1], mask: [1, 1, 0] }),
  row("g", 1, { tokens: [1], logp_old: [-1], logp_sampled: [-1.1] }),
];
const kept = (params: object): number[] => {
  const mask = made(rejected, params);
  assert.ok(typeof mask === "function");
  return [...mask(batchOf(rows), {})];
};

it("rejects tokens by their own ratio", () => {
  assert.deepEqual(kept({ estimator: "k1", low: 0.5, high: 2 }), [1, 0, 0, 1]);
  assert.deepEqual(kept({ estimator: "k2", high: 0.4 }), [1, 0, 0, 1]);
});

it("rejects whole responses by the mean over their trained tokens", () => {
  assert.deepEqual(kept({ estimator: "k2", level: "sequence_mean", high: 0.2 }), [0, 0, 0, 1]);
  assert.deepEqual(kept({ estimator: "k2", level: "sequence_mean", high: 0.3 }), [1, 1, 0, 1]);
});

it("names the column that is missing", () => {
  const mask = made(rejected, {});
  assert.ok(typeof mask === "function");
  assert.throws(() => mask(batchOf([row("g", 0, { tokens: [1], logp_old: [-1] })]), {}), UserError);
});
