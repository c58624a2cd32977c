import assert from "node:assert/strict";
import { test } from "node:test";
import {
  innerProduct,
  lowRankMean,
  matrix,
  product,
  transposed,
  type Product,
} from "../../../server/run/stages/lowRankMean.ts";
import { singularValues, type Matrix } from "../../../server/lib/algebra/singularValues.ts";
import { adapterMean } from "../../../server/run/stages/weights.ts";
import { randomStream } from "../../../server/lib/random.ts";
import { near } from "../support.ts";

const drawn = (rows: number, columns: number, name: string): Matrix => {
  const random = randomStream("low-rank", name);
  return matrix(
    Array.from({ length: rows * columns }, () => 2 * random.next() - 1),
    rows,
  );
};
const adapter = (name: string, rank = 2): Product => ({
  a: drawn(7, rank, `${name}A`),
  b: drawn(rank, 5, `${name}B`),
});
const dense = ({ a, b }: Product): Matrix => product(a, b);
const meanOf = (parts: readonly Product[], weights: readonly number[]): Float64Array =>
  parts.reduce(
    (sum, part, i) => sum.map((value, k) => value + weights[i]! * dense(part).values[k]!),
    new Float64Array(35),
  );
const squared = (values: Float64Array): number => values.reduce((sum, value) => sum + value * value, 0);

test("a matrix is the product of its singular vectors and values", () => {
  const of = drawn(6, 4, "m");
  const { u, s, v } = singularValues(of);
  const scaled = matrix(
    v.values.map((value, i) => value * s[i % 4]!),
    4,
  );
  product(u, transposed(scaled)).values.forEach((value, i) => assert.ok(near(value, of.values[i]!, 1e-12)));
  product(transposed(u), u).values.forEach((value, i) => assert.ok(near(value, i % 5 === 0 ? 1 : 0, 1e-12)));
  assert.deepEqual(
    [...s],
    [...s].sort((a, b) => b - a),
  );
  assert.deepEqual([...singularValues(matrix([3, 0, 0, -4], 2)).s], [4, 3]);
  assert.deepEqual([...singularValues(matrix([0, 0, 0, 0], 2)).s], [0, 0]);
});

test("the mean of adapters is that of what they add; what the rank leaves out is what is missing", () => {
  const parts = [adapter("one"), adapter("other"), adapter("third")];
  const weights = [0.5, 0.3, 0.2];
  const found = lowRankMean(parts, weights);
  assert.deepEqual(
    { aRows: found.a.rows, aColumns: found.a.columns, bRows: found.b.rows, bColumns: found.b.columns },
    { aRows: 7, aColumns: 2, bRows: 2, bColumns: 5 },
  );
  const mean = meanOf(parts, weights);
  const apart = dense(found).values.map((value, i) => mean[i]! - value);
  assert.ok(near(found.whole, squared(mean), 1e-10));
  assert.ok(found.lost > 0 && near(found.lost, squared(apart), 1e-10));

  assert.ok(near(innerProduct(found, found), squared(dense(found).values), 1e-10));
});

test("an adapter merged with itself stays what it is, and nothing is lost", () => {
  const one = adapter("same");
  const { lost, whole, ...same } = lowRankMean([one, one], [0.25, 0.75]);
  assert.ok(lost < 1e-24 * whole);
  dense(same).values.forEach((value, i) => assert.ok(near(value, dense(one).values[i]!, 1e-12)));
  const fresh = { ...one, b: matrix(new Float64Array(10), 2) };
  const half = lowRankMean([one, fresh], [0.5, 0.5]);
  dense(half).values.forEach((value, i) => assert.ok(near(value, dense(one).values[i]! / 2, 1e-12)));
  assert.ok(lowRankMean([fresh, fresh], [0.5, 0.5]).a.values.every((value) => value === 0));
});

test("an adapter of a higher rank than its matrix has room for is filled up with zeros", () => {
  const wide: Product = { a: drawn(3, 4, "wA"), b: drawn(4, 3, "wB") };
  const { a, b, lost } = lowRankMean([wide, wide], [0.5, 0.5]);
  assert.deepEqual(
    { aRows: a.rows, aColumns: a.columns, bRows: b.rows, bColumns: b.columns },
    { aRows: 3, aColumns: 4, bRows: 4, bColumns: 3 },
  );
  assert.ok(lost < 1e-20);
  product(a, b).values.forEach((value, i) =>
    assert.ok(near(value, product(wide.a, wide.b).values[i]!, 1e-12)),
  );
});

test("heads are averaged weight by weight, like the adapters; weights need not sum to 1", () => {
  const values = (name: string, head: number): Record<string, Float32Array> => ({
    "0.q.A": Float32Array.from(adapter(name).a.values),
    "0.q.B": Float32Array.from(adapter(name).b.values),
    "head.value": Float32Array.from([head]),
  });
  const { mean, lost } = adapterMean(
    [
      { values: values("x", 1), weight: 3 },
      { values: values("x", 5), weight: 1 },
    ],
    2,
  );
  assert.deepEqual([...mean["head.value"]!], [2]);
  assert.ok(lost < 1e-6);
});
