/** Rollouts that were helped: what training compares them with, and what is computed from it. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { near, row } from "../support.ts";
import { explained, close } from "./support.ts";

const config = (guidance: string): string =>
  `advantage: { baseline: none, scale: none }\nobjective: { low: 1, high: 1.0e+9, aggregate: token_sum }\nguidance: ${guidance}\n`;
const plain = row("g", 0, { reward: 1, logp_old: [-1, -0.5], logp_new: [-0.9, -0.6] });
/** Two tokens were given, whose writer's log-probs nobody knows, and one was written. */
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

it("given tokens count against the weights that the step's updates began with, where the rollouts tell", async () => {
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
