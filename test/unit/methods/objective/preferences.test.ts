/** Losses over pairs and groups of answers, by hand. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aot } from "../../../../server/methods/objective/pairs/aot.ts";
import { bco } from "../../../../server/methods/objective/pairs/bco.ts";
import { exo } from "../../../../server/methods/objective/pairs/exo.ts";
import { near } from "../../support.ts";
import { close, inputOf, weigh, type Row } from "./support.ts";

test("EXO over a group: nothing to do where the policy's preferences are the rewards', else the reverse KL", () => {
  // Log-ratios of 2·r: softmax(½ · 2r) = softmax(r / 1).
  const told = [1, 0, 0.5].map((reward) => ({ ratios: [reward, reward], reward }));
  const { loss, gradients } = weigh(exo, { over: "group", beta: 0.5, reward_beta: 1 }, inputOf(told));
  assert.ok(near(loss, 0));
  close(gradients.logp, [0, 0, 0, 0, 0, 0]);
  // On the reference the policy prefers none: KL(uniform ‖ softmax(r)).
  const even = [1, 0].map((reward) => ({ ratios: [0], reward }));
  const target = [1 / (1 + Math.exp(-1)), 1 / (1 + Math.exp(1))];
  const wanted = target.reduce((sum, share) => sum + 0.5 * Math.log(0.5 / share), 0);
  assert.ok(near(weigh(exo, { over: "group", beta: 1 }, inputOf(even)).loss, wanted));
});

test("EXO over a group of two with a sharp target is EXO over the pair", () => {
  const rows = [
    { ratios: [0.7], reward: 1 },
    { ratios: [-0.4, 0.1], reward: 0 },
  ];
  const flipped = 0.1;
  const [pair, group] = [
    weigh(exo, { beta: 0.6, label_smoothing: flipped }, inputOf(rows)),
    weigh(
      exo,
      { beta: 0.6, over: "group", reward_beta: 1 / Math.log((1 - flipped) / flipped) },
      inputOf(rows),
    ),
  ];
  assert.ok(near(pair.loss, group.loss));
  close(group.gradients.logp, pair.gradients.logp!);
});

test("BCO's shift is halfway between the better and the worse answers, and held constant", () => {
  const rows = [
    { ratios: [0.8], reward: 1 },
    { ratios: [0.2], reward: 0 },
  ];
  const { loss, gradients } = weigh(bco, { beta: 1, shift: "batch" }, inputOf(rows));
  const logistic = Math.log1p(Math.exp(-0.3));
  assert.ok(near(loss, 2 * logistic));
  const slope = 1 / (1 + Math.exp(0.3));
  close(gradients.logp, [-slope, slope]);
});

test("AOT compares quantiles and not pairs", () => {
  const pair = (group: string, better: number, worse: number) => [
    { ratios: [better], reward: 1, group },
    { ratios: [worse], reward: 0, group },
  ];
  const rows = [...pair("a", 0.5, 0.4), ...pair("b", 0.1, -0.3)];
  const crossed = [...pair("a", 0.5, -0.3), ...pair("b", 0.1, 0.4)];
  const of = (list: readonly Row[]): number =>
    weigh(aot, { beta: 1, compare: "answers" }, inputOf(list)).loss;
  assert.ok(near(of(rows), of(crossed)));
  // Sorted: 0.1 over −0.3, 0.5 over 0.4.
  assert.ok(near(of(rows), (Math.log1p(Math.exp(-0.4)) + Math.log1p(Math.exp(-0.1))) / 2));
});
