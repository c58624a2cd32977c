/** How several terms become one reward. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Declaration } from "../../../../server/core/declaration.ts";
import type { TermValue } from "../../../../server/core/slots/reward.ts";
import { columnOf } from "../../../../server/algorithm/rewards/rewards.ts";
import { gate } from "../../../../server/methods/reward/combine/gate.ts";
import { max } from "../../../../server/methods/reward/combine/max.ts";
import { pessimism } from "../../../../server/methods/reward/combine/pessimism.ts";
import { renorm } from "../../../../server/methods/reward/combine/renorm.ts";
import { softMin, softMinimum } from "../../../../server/methods/reward/combine/softMin.ts";
import { saturated, veto } from "../../../../server/methods/reward/combine/veto.ts";
import { batchOf, made, near } from "../../support.ts";
import { rowOf } from "./support.ts";

type Cell = number | readonly number[] | null | string;
const valueOf = (cell: Cell): TermValue =>
  cell === null
    ? { kind: "none" }
    : typeof cell === "number"
      ? { kind: "value", value: cell }
      : typeof cell === "string"
        ? { kind: "error", message: cell }
        : { kind: "values", level: "step", values: cell };

/** The totals of rows, and each source's values; terms a, b, c, … by column. */
function combined(
  combiner: Declaration<"combine">,
  params: Record<string, unknown>,
  table: readonly (readonly Cell[])[],
  weights: readonly number[] = table.map(() => 1),
): { total: number[]; sources: Record<string, number[]> } {
  const rows = table[0]!.length;
  const batch = batchOf(
    Array.from({ length: rows }, (_, index) =>
      rowOf("abcd", {
        index,
        steps: [
          [0, 2],
          [2, 4],
        ],
      }),
    ),
  );
  const terms = table.map((cells, i) => columnOf("abcdef"[i]!, cells.map(valueOf), batch));
  const { total, sources } = made(combiner, params)({ terms, weights }, batch);
  return {
    total: [...total],
    sources: Object.fromEntries(sources.map(({ name, values }) => [name, [...values]])),
  };
}

test("gate: a term counts only where every one before it is above its gate", () => {
  const { total, sources } = combined(gate, { gates: [0, 0.5] }, [
    [1, 0, 1, null],
    [1, 1, 0.5, 1],
    [0.25, 0.25, 0.25, 0.25],
  ]);
  assert.deepEqual(total, [2.25, 0, 1.5, 1.25]);
  assert.deepEqual(sources["c"], [0.25, 0, 0, 0.25]);
});

test("gate closes by values before weights, also those of terms that pay nothing", () => {
  assert.deepEqual(
    combined(
      gate,
      {},
      [
        [1, 0],
        [
          [1, 2],
          [1, 2],
        ],
      ],
      [0, 2],
    ).total,
    [6, 0],
  );
});

test("max: the greatest weighted term that applies", () => {
  assert.deepEqual(
    combined(max, {}, [
      [0, 1, null, 9],
      [0.5, 0.25, -1, "x"],
    ]).total,
    [0.5, 1, -1, Number.NaN],
  );
  assert.deepEqual(combined(max, {}, [[9], [0.5]], [0, 2]).total, [1]);
});

test("soft_min lies between the least and the mean, and goes to either", () => {
  const values = [0, 1, 3];
  assert.ok(near(softMinimum(values, 1), -Math.log((1 + Math.exp(-1) + Math.exp(-3)) / 3)));
  assert.ok(near(softMinimum(values, 1e-3), 1e-3 * Math.log(3), 1e-9));
  assert.ok(near(softMinimum(values, 1e6), 4 / 3, 1e-5));
  assert.equal(softMinimum([-1e6, 1e6], 1e-3) < -1e6 + 1, true);
  const { total } = combined(softMin, { lambda: 0.5 }, [
    [1, 1],
    [1, null],
  ]);
  assert.deepEqual(total, [1, 1]);
});

test("pessimism: the mean less a multiple of the spread", () => {
  const table = [
    [1, 2],
    [3, null],
  ];
  assert.deepEqual(combined(pessimism, {}, table).total, [1, 2]);
  assert.deepEqual(combined(pessimism, { lambda: 0.5, spread: "max_difference" }, table).total, [1, 2]);
  assert.deepEqual(combined(pessimism, { lambda: 0 }, table).total, [2, 2]);
});

test("veto: a hard term that is missed cancels the rest; credit of a dimension saturates", () => {
  const { total } = combined(
    veto,
    { terms: ["a"] },
    [
      [1, 0, 1, "x"],
      [0.5, 1, null, 1],
    ],
    [0, 2],
  );
  assert.deepEqual(total, [0.5, 0, Number.NaN, Number.NaN]);
  assert.deepEqual(
    [0, 1, -1].map((one) => saturated(one, 3)),
    [0, 1, -1],
  );
  assert.ok(saturated(0.5, 3) > 0.8 && saturated(0.5, 3) < 0.83);
  assert.equal(saturated(0.5, 0), 0.5);
  assert.ok(
    near(combined(veto, { saturation: 3 }, [[0.5], [1]], [1, 3]).total[0], (saturated(0.5, 3) + 3) / 4),
  );
});

test("renorm: steps of failed responses are at most 0, of solved ones at least 0", () => {
  const { total, sources } = combined(renorm, {}, [
    [[0.25, 1], [0.25, 1], null],
    [0, 1, 1],
  ]);
  assert.deepEqual(sources["a"]!.slice(0, 4), [-0.75, 0, 0.25, 1]);
  assert.deepEqual(total, [-0.75, 1.25, 1]);
  assert.deepEqual(sources["outcome"], [Number.NaN, Number.NaN, 1]);
});
