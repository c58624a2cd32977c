/** Ranks, angles, shifts and alignment by small cases with known answers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { alignment, type Vectors } from "../../../../server/analysis/weights/cka.ts";
import {
  geometryOf,
  principalAngles,
  rankOf,
  spectralShift,
} from "../../../../server/analysis/weights/geometry.ts";
import { dot } from "../../../../server/lib/algebra/linear.ts";
import { randomStream } from "../../../../server/lib/random.ts";

const near = (found: number, wanted: number, within = 1e-9): void =>
  assert.ok(Math.abs(found - wanted) <= within, `${found} is not ${wanted}`);
const drawn = (count: number, name: string): number[] => {
  const random = randomStream("geometry", name);
  return Array.from({ length: count }, () => random.next() - 0.5);
};
const vectors = (count: number, width: number, name: string): number[][] =>
  Array.from({ length: count }, (_, i) => drawn(width, `${name}${i}`));

test("ranks of a change by its singular values", () => {
  const equal = rankOf(Float64Array.of(2, 2, 2, 2), 4);
  assert.deepEqual([equal.rank, equal.rank_99], [4, 4]);
  near(equal.effective_rank, 4);
  near(equal.stable_rank, 4);
  // Squares 100, 4, 0.01: the first alone holds 96 %, the first two more than 99 %.
  const steep = rankOf(Float64Array.of(10, 2, 0.1), 3);
  assert.deepEqual([steep.rank, steep.rank_99], [3, 2]);
  const p = [10 / 12.1, 2 / 12.1, 0.1 / 12.1];
  near(steep.effective_rank, Math.exp(-p.reduce((sum, one) => sum + one * Math.log(one), 0)));
  near(steep.stable_rank, 1.0401);
  assert.equal(rankOf(Float64Array.of(1, 1e-8), 2).rank, 1, "below max(m, n) · 2⁻²³ · σ₁");
  assert.equal(rankOf(Float64Array.of(0, 0), 2).effective_rank, 0);
});

test("principal angles are those by which a space was turned", () => {
  const unit = (...values: number[]): Float64Array => Float64Array.from(values);
  const turn = Math.PI / 6;
  const a = [unit(1, 0, 0, 0), unit(0, 1, 0, 0)];
  const b = [unit(Math.cos(turn), 0, Math.sin(turn), 0), unit(0, 1, 0, 0)];
  const angles = principalAngles(a, b);
  near(angles[0]!, 0, 1e-6);
  near(angles[1]!, 30);
  // Another basis of the same space is no rotation.
  const [c, s] = [Math.cos(1), Math.sin(1)];
  for (const angle of principalAngles(a, [unit(c, s, 0, 0), unit(-s, c, 0, 0)])) near(angle, 0, 1e-5);
  near(principalAngles(a, [unit(0, 0, 1, 0)])[0]!, 90);
  assert.deepEqual(principalAngles(a, []), []);
});

test("the spectral shift is ‖σ₊ − σ₀‖ / ‖σ₀‖", () => {
  near(spectralShift(Float64Array.of(4, 3), Float64Array.of(5, 3))!, 1 / 5);
  assert.equal(spectralShift(Float64Array.of(0, 0), Float64Array.of(1, 0)), null);
});

test("a planted change of rank 2 is found, with the turn that it makes of the leading space", () => {
  const [rows, columns] = [12, 8];
  const before = new Float32Array(rows * columns);
  for (let i = 0; i < 8; i++) before[i * columns + i] = 8 - i;
  const after = before.slice();
  // In eighths, so that nothing is rounded: float32's last bits would be a change of full rank.
  const eighths = (all: number[][]): number[][] =>
    all.map((one) => one.map((value) => Math.round(8 * value) / 8));
  const [u, v] = [eighths(vectors(2, rows, "u")), eighths(vectors(2, columns, "v"))];
  for (let i = 0; i < after.length; i++)
    for (const k of [0, 1]) after[i]! += 0.125 * u[k]![Math.floor(i / columns)]! * v[k]![i % columns]!;
  const { geometry } = geometryOf(before, after, rows, columns, { topK: 3, share: 0.5 });
  assert.deepEqual([geometry.change.rank, geometry.change.rank_99], [2, 2]);
  assert.equal(geometry.change.full, 8);
  assert.ok(geometry.change.effective_rank > 1 && geometry.change.effective_rank < 2.01);
  assert.deepEqual(
    geometry.singular_values.before.map((value) => Math.round(value * 1e6) / 1e6),
    [8, 7, 6],
  );
  assert.equal(geometry.angles.left.length, 3);
  assert.ok(geometry.angles.left.at(-1)! > 0.01 && geometry.angles.left.at(-1)! < 3);
});

test("a matrix whose leading directions were swapped for others keeps its spectrum and turns by 90°", () => {
  const [before, after] = [new Float32Array(16), new Float32Array(16)];
  [4, 3, 2, 1].forEach((value, i) => {
    before[5 * i] = value;
    after[5 * (3 - i)] = value;
  });
  const { geometry } = geometryOf(before, after, 4, 4, { topK: 2, share: 0.5 });
  near(geometry.spectral_shift!, 0, 1e-7);
  for (const side of [geometry.angles.left, geometry.angles.right])
    for (const angle of side) near(angle, 90, 1e-5);
});

/** ‖YᵀX‖² / (‖XᵀX‖ ‖YᵀY‖) of centred columns, as it is defined. */
function defined(x: Vectors, y: Vectors): number {
  const columns = (of: Vectors): number[][] =>
    Array.from(of[0]!, (_, j) => {
      const column = of.map((row) => row[j]!);
      const mean = column.reduce((sum, value) => sum + value, 0) / column.length;
      return column.map((value) => value - mean);
    });
  const square = (a: number[][], b: number[][]): number =>
    a.reduce((sum, one) => b.reduce((own, other) => own + dot(one, other) ** 2, sum), 0);
  const [cx, cy] = [columns(x), columns(y)];
  return square(cx, cy) / Math.sqrt(square(cx, cx) * square(cy, cy));
}

test("CKA is as defined, and does not mind a rotation, a scale or an offset", () => {
  const x = vectors(20, 5, "x");
  const y = x.map((row, i) => [...row.slice(0, 3), ...drawn(4, `more${i}`)]);
  near(alignment(x, y).cka!, defined(x, y));
  assert.ok(defined(x, y) < 0.99);
  const w = drawn(5, "mirror");
  const mirrored = x.map((row) =>
    row.map((value, i) => 3 * (value - (2 * dot(row, w) * w[i]!) / dot(w, w)) + 7),
  );
  const turned = alignment(x, mirrored);
  near(turned.cka!, 1);
  near(turned.cka_unbiased!, 1);
  near(alignment(mirrored, y).cka!, alignment(x, y).cka!);
  near(alignment(mirrored, y).cka_unbiased!, alignment(x, y).cka_unbiased!);
  assert.equal(alignment([[1], [1]], [[1], [2]]).cka, null);
  assert.equal(alignment(x.slice(0, 3), y.slice(0, 3)).cka_unbiased, null);
});

test("of fewer texts than dimensions, CKA of strangers is near 1 and without its bias near 0", () => {
  const { cka, cka_unbiased: unbiased } = alignment(vectors(16, 400, "a"), vectors(16, 400, "b"));
  assert.ok(cka! > 0.9);
  assert.ok(Math.abs(unbiased!) < 0.2, String(unbiased));
});

test("the estimate without bias is the mean over all ordered quadruples of different examples", () => {
  const [x, y] = [vectors(6, 3, "p"), vectors(6, 2, "q")];
  const hsic = (of: Vectors, other: Vectors): number => {
    const k = (i: number, j: number): number => dot(of[i]!, of[j]!);
    const l = (i: number, j: number): number => dot(other[i]!, other[j]!);
    let [sum, count] = [0, 0];
    const all = [0, 1, 2, 3, 4, 5];
    for (const i of all)
      for (const j of all)
        for (const q of all)
          for (const r of all) {
            if (new Set([i, j, q, r]).size < 4) continue;
            sum += k(i, j) * (l(i, j) + l(q, r) - 2 * l(i, q));
            count++;
          }
    return sum / count;
  };
  near(alignment(x, y).cka_unbiased!, hsic(x, y) / Math.sqrt(hsic(x, x) * hsic(y, y)));
});
