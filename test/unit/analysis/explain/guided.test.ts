/** Rollouts that were helped: what training compares them with, and what is computed from it. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { near, row } from "../../support.ts";
import { explained, close } from "./support.ts";

const config = (guidance: string): string =>
  `advantage: { baseline: none, scale: none }\nobjective: { low: 1, high: 1.0e+9, aggregate: token_sum }\nguidance: ${guidance}\n`;
const plain = row("g", 0, { reward: 1, logp_old: [-1, -0.5], logp_new: [-0.9, -0.6] });
/** Two tokens were given, whose writer's log-probs no one knows, and one was written. */
const helped = row("g", 1, {
  reward: 1,
  source: "guided",
  origin: ["given", "given", "written"],
  mask: [1, 1, 1],
  help: { use: "solution", round: 0 },
  logp_old: [null, null, -0.7],
  logp_new: [-0.5, -2.5, -0.6],
});
const then = [-0.4, -3, -0.8];
const plainSlopes = [-Math.exp(0.1), -Math.exp(-0.1)];

it("prefilled tokens count against the weights that the step's updates began with, where the rollouts record it", async () => {
  for (const rows of [
    [plain, { ...helped, logp_proximal: then }],
    [plain, { ...helped, "logp:proximal": then }],
  ]) {
    const { rollouts, steps } = await explained(config("{ trigger: always, trains: all }"), rows);
    const slopes = [-Math.exp(-0.1), -Math.exp(0.5), -Math.exp(0.1)];
    close(rollouts[0]!.grad_logp!, plainSlopes);
    close(rollouts[1]!.grad_logp!, slopes);
    assert.ok(
      near(
        Number(steps[0]!.loss),
        [...plainSlopes, ...slopes].reduce((a, b) => a + b, 0),
      ),
    );
  }
});

it("and against the present ones, as the first of them finds it, where they do not", async () => {
  const all = "{ trigger: always, trains: all }";
  const { rollouts } = await explained(config(all), [plain, helped]);
  close(rollouts[1]!.grad_logp!, [-1, -1, -Math.exp(0.1)]);
  const recomputed = await explained(config("{ trigger: always, ratio: recomputed }"), [
    plain,
    { ...helped, mask: [0, 0, 1] },
  ]);
  close(recomputed.rollouts[0]!.grad_logp!, plainSlopes);
  close(recomputed.rollouts[1]!.grad_logp!, [0, 0, -1]);
});

it("weights by how unlikely the policy found what others wrote read the same column", async () => {
  const rows = [plain, { ...helped, logp_proximal: then }];
  const weighed = `advantage: { baseline: none, scale: none, token_weights: [{ use: power, gamma: 1 }] }\nguidance: { trigger: always, trains: all }\n`;
  const { rollouts } = await explained(weighed, rows);
  close(rollouts[0]!.weights, [1, 1]);
  close(
    rollouts[1]!.weights,
    then.map((logp) => 1 - Math.exp(logp)),
  );
});

it("an objective whose anchor are those weights goes on asking for them", async () => {
  const rows = [plain, helped];
  const text = `objective: { anchor: proximal }\nadvantage: { baseline: none, scale: none }\nguidance: { trigger: always, trains: all }\n`;
  await assert.rejects(explained(text, rows), /logp_proximal/);
});

it("a mixture of the step: α is the share of clones, the error rate that of the plain rollouts, which count against it too", async () => {
  const clone = row("g", 2, {
    reward: 1,
    source: "guided",
    origin: ["written", "written", "given", "written"],
    mask: [1, 1, 1, 1],
    help: { use: "probe", round: 0, error_rate: 1 },
    spans: {
      attempt: [[0, 2]],
      help: [[2, 3]],
    },
    logp_old: [-1, -0.5, Math.log(0.25), -0.7],
    logp_new: [-0.9, -0.6, -2.5, -0.6],
    logp_proximal: [-1, -0.5, -3, -0.7],
  });
  const failed = row("g", 1, { reward: 0, logp_old: [-1], logp_new: [-1] });
  const text = `reward: { terms: { right: { use: equation } } }\n${config("{ trigger: wrong, source: probe, ratio: { use: mixture, alpha: share, errors: step, plain: mixture }, place: append, trains: all }")}`;
  const { rollouts } = await explained(text, [plain, failed, clone]);
  // Three rollouts, one of them a clone; of two plain ones one failed: e^(1/2 · log 2) on each token of the attempt.
  const [alpha, spread] = [1 / 3, Math.SQRT2];
  const attempt = (old: number): number => Math.exp(old) * (1 - alpha + alpha * spread);
  close(rollouts[0]!.grad_logp!, [
    -Math.exp(-0.9) / (Math.exp(-1) * (1 - alpha)),
    -Math.exp(-0.6) / (Math.exp(-0.5) * (1 - alpha)),
  ]);
  const inserted = (1 - alpha) * Math.exp(-3) + alpha * 0.25;
  const slopes = [
    -Math.exp(-0.9) / attempt(-1),
    -Math.exp(-0.6) / attempt(-0.5),
    -Math.exp(-2.5) / inserted,
    -Math.exp(0.1),
  ];
  close(rollouts[2]!.grad_logp!, slopes);
  // What a run kept of the whole step counts, and not what is left of it.
  const kept = { ...clone, mixture: { explored: 1 / 3, errors: 1 / 2 } };
  const alone = await explained(text, [plain, kept]);
  close(alone.rollouts[1]!.grad_logp!, slopes);
});
