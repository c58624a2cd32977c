/** Whether reward models agree: the difference of two terms' gaps between siblings, from its definition. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TermValue } from "../../../../../server/core/slots/reward.ts";
import { agreement } from "../../../../../server/methods/reward/models/agreement.ts";
import { made } from "../../../support.ts";
import { rowOf, saidBy } from "../support.ts";

const rows = ["a", "b", "c", "d"].map((response, index) =>
  rowOf(response, { index: index % 3, group: index < 3 ? "g" : "h" }),
);
const values: Readonly<Record<string, readonly (number | null)[]>> = {
  first: [1, 2, 3, 0],
  shifted: [11, 12, 13, 7],
  other: [1, 2, 0, 0],
  partly: [1, null, 3, 0],
};
const said = (term: string | undefined): readonly TermValue[] =>
  values[term!]!.map((one) =>
    one === null ? { kind: "error", message: "late" } : { kind: "value", value: one },
  );

test("a constant offset is no disagreement, and a group of one has none", async () => {
  const term = made(agreement, { of: ["first", "shifted"], within: 0 });
  assert.deepEqual(await saidBy(term, rows, { said }), [1, 1, 1, 1]);
});

test("mean |(r_a(y) − r_a(y')) − (r_b(y) − r_b(y'))| is what is compared", async () => {
  // r_first − r_other is 0, 0, 3: a and b are apart by (0 + 3)/2, c by (3 + 3)/2.
  const at = async (within: number): Promise<unknown> =>
    saidBy(made(agreement, { of: ["first", "shifted", "other"], within }), rows, { said });
  assert.deepEqual(await at(1.4), [0, 0, 0, 1]);
  assert.deepEqual(await at(1.5), [1, 1, 0, 1]);
  assert.deepEqual(await at(3), [1, 1, 1, 1]);
});

test("a term that fails fails it, on that response alone", async () => {
  const term = made(agreement, { of: ["first", "partly"], within: 0 });
  assert.deepEqual(await saidBy(term, rows, { said }), [1, "late", 1, 1]);
});
