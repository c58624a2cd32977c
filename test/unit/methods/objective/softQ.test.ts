/** Soft Q-learning against the two losses of RLPrompt's released code, written out on logits. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { softQ } from "../../../../server/methods/objective/regressions/softQ.ts";
import { sequenceSum } from "../../../../server/methods/objective/aggregates/sequenceSum.ts";
import { made } from "../../support.ts";
import { factorsOf } from "./differences.ts";
import { close, inputOf, weigh } from "./support.ts";

const logSumExp = (logits: readonly number[]): number =>
  Math.log(logits.reduce((sum, z) => sum + Math.exp(z), 0));

/** Of two rows: logits of the policy and of its slow copy at each token, what was written, and the reward. */
const rows = [
  {
    logits: [
      [1, 2, -1],
      [0, 0.5, 3],
      [2, 2, 1],
    ],
    slow: [
      [0.5, 1, 0],
      [1, 1, 2],
      [3, 0, 1],
    ],
    written: [1, 2, 0],
    reward: 4,
  },
  {
    logits: [
      [-1, 0, 1],
      [0.3, 0.2, 0.1],
    ],
    slow: [
      [0, 0, 1],
      [2, 0.1, 0.1],
    ],
    written: [0, 1],
    reward: -2,
  },
];

/** Mean over rows of the sum over tokens of half of both squares. */
function released(): number {
  const sums = rows.map(({ logits, slow, written, reward }) => {
    const advantage = logits.map((z, t) => z[written[t]!]! - logSumExp(z));
    const values = slow.map(logSumExp);
    const goal = values.map((own, t) => (t + 1 < values.length ? values[t + 1]! : reward) - own);
    const paths = advantage.map((_, t) => advantage.slice(t).reduce((a, b) => a + b, 0));
    return advantage.reduce(
      (sum, a, t) => sum + ((a - goal[t]!) ** 2 + (paths[t]! - (reward - values[t]!)) ** 2) / 2,
      0,
    );
  });
  return sums.reduce((a, b) => a + b, 0) / rows.length;
}

const logp = rows.flatMap(({ logits, written }) => logits.map((z, t) => z[written[t]!]! - logSumExp(z)));
const values = rows.flatMap(({ slow }) => slow.map(logSumExp));
const input = (scale: number) => {
  const some = inputOf(
    rows.map(({ logits, reward }) => ({ ratios: logits.map(() => 0), advantage: reward / scale })),
  );
  return {
    ...some,
    now: { logp: Float64Array.from(logp) },
    old: { "logsumexp:slow": Float64Array.from(values) },
    factors: factorsOf(made(sequenceSum, {}), some.weights, some.batch),
  };
};

describe("soft_q", () => {
  for (const scale of [1, 5])
    it(`is the released loss, with rewards over ${scale} times ${scale}`, () =>
      close([weigh(softQ, { target: "slow", scale }, input(scale)).loss], [released()]));

  it("is 0 where the log-probs are what the values change by", () => {
    const some = input(1);
    const fitted = rows.flatMap(({ slow, reward }) =>
      slow.map((z, t) => (t + 1 < slow.length ? logSumExp(slow[t + 1]!) : reward) - logSumExp(z)),
    );
    const { loss, gradients } = weigh(
      softQ,
      { target: "slow" },
      { ...some, now: { logp: Float64Array.from(fitted) } },
    );
    assert.ok(Math.abs(loss) < 1e-20);
    close(
      gradients.logp,
      fitted.map(() => 0),
    );
  });
});
