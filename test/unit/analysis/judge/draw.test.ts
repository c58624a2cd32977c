import assert from "node:assert/strict";
import { test } from "node:test";
import { drawForLabels, usualThreshold } from "../../../../server/analysis/judge/draw.ts";
import { randomStream } from "../../../../server/lib/random.ts";

const draw = (scores: readonly number[], count: number, known?: (at: number) => boolean) =>
  drawForLabels(scores, count, randomStream(3, "test"), known);
const rare = Array.from({ length: 1_000 }, (_, i) => Number(i % 100 === 7));

test("rare scores are drawn as often as common ones, and the weights undo that", () => {
  const drawn = draw(rare, 20);
  assert.equal(new Set(drawn.map(({ at }) => at)).size, 20);
  assert.equal(drawn.filter(({ at }) => rare[at] === 1).length, 10);
  const mean = drawn.reduce((sum, { at, weight }) => sum + weight * rare[at]!, 0) / 20;
  assert.ok(Math.abs(mean - 0.01) < 1e-9);
  assert.ok(Math.abs(drawn.reduce((sum, { weight }) => sum + weight, 0) - 20) < 1e-9);
  // The order does not tell one kind from the other.
  const changes = drawn.filter(({ at }, i) => i > 0 && rare[at] !== rare[drawn[i - 1]!.at]).length;
  assert.ok(changes > 4, String(changes));
});

test("each side is drawn over its whole range; few candidates are all drawn", () => {
  const scores = Array.from({ length: 400 }, (_, i) => i / 400);
  const drawn = draw(scores, 20).map(({ at }) => Math.floor(at / 20));
  assert.deepEqual(
    [...drawn].sort((a, b) => a - b),
    [...Array(20).keys()],
  );
  assert.equal(draw([1, 0, 0.5], 20).length, 3);
  assert.deepEqual(draw([], 20), []);
  assert.equal(draw(scores, 1).length, 1);
  // Where the judge passes all, all are of one side.
  assert.deepEqual(
    draw(
      Array.from({ length: 50 }, () => 1),
      20,
    ).map(({ weight }) => weight),
    Array.from({ length: 20 }, () => 1),
  );
});

test("a draw that goes on counts what is labelled, and draws none of it again", () => {
  const done = new Set(
    draw(rare, 20)
      .slice(0, 8)
      .map(({ at }) => at),
  );
  const passed = [...done].filter((at) => rare[at] === 1).length;
  const rest = draw(rare, 20, (at) => done.has(at)).map(({ at }) => at);
  assert.equal(rest.length, 12);
  assert.ok(rest.every((at) => !done.has(at)));
  assert.equal(rest.filter((at) => rare[at] === 1).length, 10 - passed);
});

test("the threshold is that of shares, else halfway", () => {
  assert.equal(usualThreshold([0, 0.2, 1]), 0.5);
  assert.equal(usualThreshold([1, 5, 3]), 3);
  assert.equal(usualThreshold([-1, 1]), 0);
});
