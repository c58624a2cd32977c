/** What guided tokens count against, and the losses that stand in the objective's place. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { Algorithm, contextOf } from "../../../../server/algorithm/algorithm.ts";
import { loadConfig } from "../../../../server/rules/load.ts";
import { logMixed } from "../../../../server/methods/guidance/ratio/multipleImportance.ts";
import { probesOf } from "../../../../server/methods/guidance/source/probe.ts";
import { guidanceRatios } from "../../../../server/methods/guidance/index.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { GuidedToken } from "../../../../server/core/slots/guidance.ts";
import { origin, type Batch } from "../../../../server/core/rollouts.ts";
import type { Stats, Weighed } from "../../../../server/core/policy.ts";
import { batchOf } from "../../../support/batch.ts";

const context = { folder: ".", random: randomStream(1), max_tokens: 8, group: 2 };
const token: GuidedToken = {
  given: true,
  attempt: false,
  behaviour: Number.NaN,
  proximal: Math.log(0.3),
  now: Math.log(0.35),
  error_rate: 0,
  attempt_tokens: 0,
  helped: true,
  step: { explored: 0.25, errors: 0.64 },
};
function denominator(name: string, more: Partial<GuidedToken> = {}, params: object = {}): number {
  const declaration = guidanceRatios.find((one) => one.name === name)!;
  return Math.exp(
    declaration.create(declaration.params.parse(params), context).denominator({ ...token, ...more }),
  );
}
const near = (a: number, b: number, what = ""): void =>
  assert.ok(Math.abs(a - b) < 1e-12, `${what} ${a} is not ${b}`);

test("the denominators are those of the papers", () => {
  near(denominator("same_context"), 0.3, "given: the policy as it was");
  near(denominator("same_context", { given: false, behaviour: Math.log(0.2) }), 0.2);
  near(denominator("true_behaviour", { behaviour: Math.log(0.6) }), 0.6);
  near(denominator("recomputed", { given: false, behaviour: Math.log(0.6) }), 0.3);
  // RL-PLUS: of an unknown source ½ (π_old + 1).
  near(1 / Math.exp(logMixed(0, Number.NaN)), 1, "at π = π_old = 1");
  near(denominator("multiple_importance"), (0.3 + 0.65) / 2);
  near(denominator("multiple_importance", { behaviour: Math.log(0.9) }), 0.6);
  near(denominator("multiple_importance", { given: false, behaviour: Math.log(0.2) }), 0.2);
  // REX-RAG: an inserted token, a token of the attempt, one after both.
  const alpha = { alpha: 0.25 };
  near(denominator("mixture", { behaviour: Math.log(0.5) }, alpha), 0.75 * 0.3 + 0.25 * 0.5);
  const attempt = {
    given: false,
    attempt: true,
    behaviour: Math.log(0.2),
    error_rate: 0.25,
    attempt_tokens: 2,
  };
  near(denominator("mixture", attempt, alpha), 0.75 * 0.2 + 0.25 * (0.2 / 0.5));
  near(denominator("mixture", { given: false, behaviour: Math.log(0.2) }, alpha), 0.2);
  // Its released code: α is the share of clones, the error rate that of the batch, and plain rollouts have (1 − α) π_old.
  const step = { alpha: "share", errors: "step", plain: "mixture" };
  near(denominator("mixture", { behaviour: Math.log(0.5) }, step), 0.75 * 0.3 + 0.25 * 0.5);
  near(denominator("mixture", attempt, step), 0.75 * 0.2 + 0.25 * (0.2 / 0.8));
  near(denominator("mixture", { helped: false, given: false, behaviour: Math.log(0.2) }, step), 0.75 * 0.2);
  const alone = { ...attempt, step: { explored: 0.5, errors: 0 } };
  near(denominator("mixture", alone, step), 0.2, "nobody failed that could be judged");
});

test("a probe's tokens are as likely as the pool makes them", () => {
  const encode = (text: string): Int32Array => Int32Array.from([...text], (letter) => letter.charCodeAt(0));
  const [first, , third] = probesOf(["abc", "abd", "axe"], { encode });
  const round = (values: Float64Array): number[] =>
    [...values].map((value) => Number(Math.exp(value).toFixed(12)));
  assert.deepEqual(round(first!.logp), [1, Number((2 / 3).toFixed(12)), 0.5]);
  assert.deepEqual(round(third!.logp), [1, Number((1 / 3).toFixed(12)), 1]);
});

const [yes, no] = [origin.given, origin.written];
/** A plain row, and one of which the first two tokens were given. */
const batch: Batch = batchOf(
  [
    { context: [1], tokens: [2, 3, 4] },
    {
      context: [1],
      tokens: [5, 6, 7],
      origin: [yes, yes, no],
      record: { source: "guided", help: { use: "solution", round: 0 } },
    },
  ],
  {},
  { mask: Uint8Array.of(1, 1, 1, 1, 1, 1) },
);
const old: Stats = {
  logp: Float64Array.of(-1, -0.5, -2, Number.NaN, Number.NaN, -0.7),
  "logp:proximal": Float64Array.of(-1, -0.5, -2, -0.4, -3, -0.7),
};
const now = Float64Array.of(-0.9, -0.6, -2.1, -0.5, -2.5, -0.6);
const advantages = Float64Array.of(-1, -1, -1, 1, 1, 1);
const clock = { step: 0, stageStep: 0 };

function weigh(guidance: string, logp: Float64Array = now, stats: Stats = old): Weighed {
  const { config, diagnostics } = loadConfig(resolve("any.gradus.yaml"), {
    text: `tasks: [{ env: arithmetic }]\nreward: { terms: { correct: numeric } }\nobjective: { low: 1, high: 1.0e+9, aggregate: token_sum }\nguidance: ${guidance}\n`,
  });
  assert.ok(config, diagnostics.map(({ message }) => message).join("\n"));
  const algorithm = new Algorithm(config.top, contextOf(config.top, { random: randomStream(1) }));
  const weights = new Float64Array(6).fill(1);
  return algorithm.weigh({ old: stats, advantages, weights }, clock)({ logp }, batch);
}

const plain = Math.exp(0.1) + Math.exp(-0.1) + Math.exp(-0.1);
const behind = Math.exp(0.1);
const cases: readonly (readonly [string, number])[] = [
  ["{ trigger: always, trains: all }", Math.exp(-0.1) + Math.exp(0.5)],
  [
    "{ trigger: always, trains: all, ratio: multiple_importance }",
    Math.exp(-0.5 - logMixed(-0.4, Number.NaN)) + Math.exp(-2.5 - logMixed(-3, Number.NaN)),
  ],
  [
    "{ trigger: always, trains: all, ratio: shaped }",
    Math.exp(-0.5) / (Math.exp(-0.5) + 0.1) + Math.exp(-2.5) / (Math.exp(-2.5) + 0.1),
  ],
  ["{ trigger: always, trains: all, ratio: { use: imitation, gamma: 0.02 } }", 0.02 * (-0.5 - 2.5)],
  [
    "{ trigger: always, trains: all, ratio: { use: same_context, clip: { low: 0.2, high: 0.2 } } }",
    Math.exp(-0.1) + 1.2,
  ],
];
for (const [guidance, given] of cases)
  test(`the loss and its slope: ${guidance}`, () => {
    const { loss, gradients } = weigh(guidance);
    near(loss, plain - given - behind);
    now.forEach((_, t) => {
      const moved = (by: number): number =>
        weigh(
          guidance,
          now.map((value, i) => (i === t ? value + by : value)),
        ).loss;
      const slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
      assert.ok(
        Math.abs(gradients.logp![t]! - slope) < 1e-7,
        `token ${t}: ${gradients.logp![t]} is not ${slope}`,
      );
    });
  });

test("a prefilled token that no model can be asked about is refused with what fits, and a plain row is as ever", () => {
  assert.throws(
    () =>
      weigh(
        "{ trigger: always, source: { use: guide, model: reference }, trains: all, ratio: true_behaviour }",
      ),
    /true_behaviour needs the log-prob of prefilled tokens under the model that wrote them/,
  );
  const without = weigh("{ trigger: none }", now, { ...old, logp: old["logp:proximal"]! });
  const guided = weigh("{ trigger: always, trains: all }");
  near(without.loss, guided.loss, "given tokens against the policy as it was");
});
