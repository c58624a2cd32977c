/** What a mean over all tasks does not say: how sure it is which model is better, and for which tasks it holds. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { normalised } from "../../../../server/analysis/evaluation/normalised.ts";
import { perplexities } from "../../../../server/analysis/evaluation/perplexity.ts";
import { posterior, probabilityAbove } from "../../../../server/analysis/evaluation/posterior.ts";
import { reversedArms } from "../../../../server/analysis/evaluation/reversedArms.ts";
import type { EvaluatedTask } from "../../../../server/analysis/evaluation/types.ts";
import { beta } from "../../../../server/lib/distributions.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { near } from "../../support.ts";

const seen = (right: number, of: number): EvaluatedTask[] =>
  Array.from({ length: of }, (_, i) => ({ arm: "a", samples: [], greedy: i < right }));

test("the posterior is that of two Beta distributions", () => {
  // One right of one against none of one: ∫ 2p(2p − p²) dp.
  assert.ok(near(probabilityAbove({ right: 1, wrong: 0 }, { right: 0, wrong: 1 }), 5 / 6));
  assert.ok(near(probabilityAbove({ right: 7, wrong: 3 }, { right: 7, wrong: 3 }), 0.5));
  const random = randomStream(1, "posterior");
  const draws = Array.from(
    { length: 40_000 },
    () => beta(1 + 14, 1 + 10, random) > beta(1 + 10, 1 + 14, random),
  );
  const { better, enough } = posterior(seen(14, 24), seen(10, 24))!;
  assert.ok(Math.abs(better - draws.filter(Boolean).length / draws.length) < 0.01, String(better));
  assert.equal(enough, false);
  assert.equal(posterior(seen(24, 24), seen(10, 24))!.enough, true);
  assert.equal(posterior([{ arm: "a", samples: [] }], seen(1, 1)), undefined);
});

test("arms on which the worse model is better are named", () => {
  const of = (value: number) => ({ value, tasks: 4, low: value - 0.1, high: value + 0.1 });
  const differences = {
    "eval/pass@1": of(0.1),
    "eval/countdown/3/pass@1": of(0.3),
    "eval/countdown/4/pass@1": of(-0.1),
    "eval/countdown/4/greedy": of(-0.2),
  };
  assert.deepEqual(reversedArms(differences, "pass@1"), [{ arm: "countdown/4", ...of(-0.1) }]);
});

test("a score is put between a random model's and a reference's", () => {
  const found = normalised({ a: 0.5, b: 1, c: 1 }, { a: 0.9, b: 0.2 }, { a: 0.1, b: 0.2, c: 0 });
  assert.deepEqual(Object.keys(found), ["a"]);
  assert.ok(near(found["a"]!, 0.5));
});

test("perplexity is exp of the mean negative log-prob, an answer each", () => {
  const logs = [1, 2, 4].map((value) => -Math.log(value));
  const { own, other, own_under_other: under } = perplexities([...logs, Number.NaN], [], undefined);
  assert.deepEqual([own!.answers, other, under], [3, null, null]);
  assert.ok(near(own!.median, 2));
});
