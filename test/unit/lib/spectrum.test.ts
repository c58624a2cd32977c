/** Singular values and vectors by Gram matrices, against known decompositions and one-sided Jacobi rotations. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dot } from "../../../server/lib/algebra/linear.ts";
import { randomStream } from "../../../server/lib/random.ts";
import { singularValues } from "../../../server/lib/algebra/singularValues.ts";
import { spectrum, type Dense } from "../../../server/lib/algebra/spectrum.ts";

const drawn = (rows: number, columns: number): Dense => {
  const random = randomStream("spectrum", rows, columns);
  return { rows, columns, values: Float32Array.from({ length: rows * columns }, () => random.next() - 0.5) };
};
const transposed = ({ rows, columns, values }: Dense): Dense => ({
  rows: columns,
  columns: rows,
  values: Float32Array.from(values, (_, i) => values[(i % rows) * columns + Math.floor(i / rows)]!),
});
const near = (found: number, wanted: number, within: number): void =>
  assert.ok(Math.abs(found - wanted) <= within, `${found} is not ${wanted}`);

/** H_u diag(s) H_v with reflections H = I − 2 w wᵀ / wᵀw: orthogonal by definition, so `s` are its singular values. */
function known(rows: number, columns: number, s: readonly number[]): Dense {
  const [u, v] = [rows, columns].map((n, side) => {
    const random = randomStream("reflection", n, side);
    const w = Array.from({ length: n }, () => random.next() - 0.5);
    const square = dot(w, w);
    return (i: number, j: number): number => Number(i === j) - (2 * w[i]! * w[j]!) / square;
  });
  const at = (i: number, j: number): number =>
    s.reduce((sum, value, k) => sum + value * u!(i, k) * v!(j, k), 0);
  return {
    rows,
    columns,
    values: Float32Array.from({ length: rows * columns }, (_, i) => at(Math.floor(i / columns), i % columns)),
  };
}

for (const [rows, columns] of [
  [9, 5],
  [5, 9],
  [6, 6],
  [300, 3],
  [1, 4],
  [2, 1],
] as const)
  test(`values and vectors of ${rows} × ${columns} numbers are those of Jacobi's rotations`, () => {
    const of = drawn(rows, columns);
    const tall = rows >= columns ? of : transposed(of);
    const by = singularValues({ ...tall, values: Float64Array.from(tall.values) });
    const { values, left, right } = spectrum(of, 3);
    assert.equal(values.length, Math.min(rows, columns));
    values.forEach((value, i) => near(value, by.s[i]!, 1e-12));
    const [u, v] = rows >= columns ? [left, right] : [right, left];
    assert.equal(u.length, Math.min(3, rows, columns));
    u.forEach((x, i) => {
      const column = Float64Array.from(
        { length: x.length },
        (_, row) => by.u.values[row * by.u.columns + i]!,
      );
      near(Math.abs(dot(x, column)), 1, 1e-9);
      near(dot(x, u[(i + 1) % u.length]!), u.length === 1 ? 1 : 0, 1e-9);
    });
    v.forEach((x) => near(dot(x, x), 1, 1e-9));
  });

test("values that are written into a matrix are found, equal ones and zeros as well", () => {
  const { values, left, right } = spectrum(known(8, 6, [5, 2, 2, 2, 0.5, 0]), 6);
  [5, 2, 2, 2, 0.5, 0].forEach((value, i) => near(values[i]!, value, 1e-6));
  assert.equal(left.length, 5, "what is zero has no vectors");
  for (const side of [left, right])
    side.forEach((x, i) => side.forEach((y, j) => near(dot(x, y), Number(i === j), 1e-6)));
  assert.deepEqual([...spectrum({ rows: 3, columns: 2, values: new Float32Array(6) }, 2).values], [0, 0]);
});

test("a diagonal matrix, whose form has nothing beside the diagonal, gives its numbers in order", () => {
  const values = new Float32Array(16);
  [1, 4, 2, 3].forEach((value, i) => (values[5 * i] = value));
  const found = spectrum({ rows: 4, columns: 4, values }, 2);
  assert.deepEqual(
    [...found.values].map((value) => Math.round(value * 1e9) / 1e9),
    [4, 3, 2, 1],
  );
  near(Math.abs(found.right[0]![1]!), 1, 1e-9);
  near(Math.abs(found.right[1]![3]!), 1, 1e-9);
});
