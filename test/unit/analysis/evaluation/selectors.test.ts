/** Selectors, by answers that are written out. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { SampledAnswer } from "../../../../server/analysis/evaluation/selectors/answer.ts";
import { selectionOf } from "../../../../server/analysis/evaluation/selectors/selection.ts";
import { bestBy, mostLikely } from "../../../../server/analysis/evaluation/selectors/single.ts";
import { majority, pathProbability, rpc } from "../../../../server/analysis/evaluation/selectors/votes.ts";
import { weibullMixture } from "../../../../server/analysis/evaluation/selectors/weibullMixture.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { near } from "../../support.ts";

let drawn = 0;
/** 5 is right. */
const said = (
  answer: string | null,
  probability: number,
  more: Partial<SampledAnswer> = {},
): SampledAnswer => ({
  response: `path ${drawn++}: ${answer ?? "?"}`,
  answer,
  right: answer === "5",
  mean_logp: Math.log(probability),
  terms: {},
  ...more,
});

describe("selectors", () => {
  it("let the most frequent answer win, with its share, and share what is tied", () => {
    const answers = [said("5", 0.1), said("5", 0.1), said("7", 0.9), said(null, 0.9), said(null, 0.9)];
    assert.deepEqual(majority(answers), { right: 1, confidence: 2 / 5 });
    assert.deepEqual(majority([said("5", 0.1), said("7", 0.1)]), { right: 0.5, confidence: 0.5 });
    assert.deepEqual(majority([said(null, 0.1)]), { right: 0, confidence: 0 });
  });

  it("sum the probabilities of an answer's distinct paths", () => {
    const twice = said("7", 0.5, { response: "the same path" });
    const answers = [said("5", 0.4), said("5", 0.3), twice, twice];
    const found = pathProbability(answers);
    assert.equal(found.right, 1);
    assert.ok(near(found.confidence!, 0.7 / 1.2));
  });

  it("take the likeliest response, or the best by a term", () => {
    const answers = [
      said("5", 0.4, { terms: { judge: 1 } }),
      said("7", 0.6, { terms: { judge: 0 } }),
      said("7", 0.5, { terms: { judge: 1 } }),
    ];
    assert.deepEqual(mostLikely(answers).right, 0);
    assert.equal(bestBy("judge")(answers).right, 0.5);
    assert.equal(bestBy("absent")(answers).right, 1 / 3);
  });

  /** Found by scipy.optimize.minimize (L-BFGS-B) from the start and within the bounds of RPC's released code. */
  const values = [0.116302, 0.776128, 0.721295, 0.818842, 0.447236, 0.162933, 0.233637, 0.362609];
  const upper = [0.017101, 1, 1, 1, 1, 0.024557, 0.125925, 0.99987];

  it("fit the two Weibull distributions that RPC's code fits", () => {
    const mixture = weibullMixture(values);
    values.forEach((value, i) => assert.ok(Math.abs(mixture.upper(value) - upper[i]!) < 1e-3, `${value}`));
  });

  it("prune the paths that are in the lower part and below the mean", () => {
    // The three of them, at 0.116, 0.163 and 0.234, say 7: without them 5 has more.
    const answers = ["7", "5", "7", "5", "7", "7", "7", "5"].map((answer, i) => said(answer, values[i]!));
    const kept = values.map((value, i) => ([0, 5, 6].includes(i) ? 0 : value));
    const sum = (answer: string): number =>
      kept.reduce((all, one, i) => (answers[i]!.answer === answer ? all + one : all), 0);
    const found = rpc(answers);
    assert.equal(found.right, Number(sum("5") > sum("7")));
    assert.ok(near(found.confidence!, Math.max(sum("5"), sum("7")) / (sum("5") + sum("7"))));
    assert.notEqual(found.confidence, pathProbability(answers).confidence);
  });

  it("are measured over tasks, each with its interval and its calibration", () => {
    const tasks = Array.from({ length: 10 }, (_, i) =>
      i < 6
        ? [said("5", 0.5), said("5", 0.2), said("7", 0.9)]
        : [said("7", 0.5), said("7", 0.2), said("5", 0.1)],
    );
    const found = selectionOf([...tasks, [said("5", 1)]], ["form"], randomStream(1, "selection"))!;
    const right = Object.fromEntries(found.selectors.map((one) => [one.selector, one.right]));
    assert.deepEqual([found.tasks, found.answers], [10, 3]);
    assert.ok(near(right["average"]!, (6 * 2 + 4) / 30));
    assert.deepEqual([right["majority"], right["most_likely"]], [0.6, 0]);
    const vote = found.selectors.find(({ selector }) => selector === "majority")!;
    assert.ok(near(vote.calibration!.ece, Math.abs(0.6 - 2 / 3)));
    assert.ok(vote.interval.low < 0.6 && vote.interval.high > 0.6);
    assert.equal(selectionOf([[said("5", 1)]], [], randomStream(1, "selection")), undefined);
  });
});
