/** Losses in addition to the objective: their sum is the sum of what each gives alone. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { configOf, near, row } from "../../support.ts";
import { close, explained } from "./support.ts";

const rows = [1, 0, 0.5, 1].map((reward, i) =>
  row("g", i, {
    reward,
    logp_old: [-1, -2, -0.5].slice(0, 1 + (i % 3)),
    logp_new: [-0.8, -2.3, -0.6].slice(0, 1 + (i % 3)),
    logp_sampled: [-1.1, -1.7, -0.4].slice(0, 1 + (i % 3)),
    logp_ref: [-1.2, -2.1, -0.9].slice(0, 1 + (i % 3)),
    values: [0.2, 0.4, 0.1].slice(0, 1 + (i % 3)),
  }),
);
const of = async (objective: string) => {
  const { rollouts, steps } = await explained(`objective: { ${objective} }`, rows);
  return {
    loss: Number(steps[0]!.loss),
    gradients: rollouts.flatMap(({ grad_logp }) => grad_logp ?? []).map(Number),
  };
};

it("the sum of each times its factor", async () => {
  const [clipped, dpo, likelihood, all] = await Promise.all([
    of("use: clipped"),
    of("use: dpo, weight: difference"),
    of("use: filtered_likelihood, keep: best"),
    of(
      "use: clipped, factor: 0.5, also: [{ use: dpo, weight: difference, factor: 2 }, { use: filtered_likelihood, keep: best }]",
    ),
  ]);
  assert.ok(near(all.loss, 0.5 * clipped.loss + 2 * dpo.loss + likelihood.loss));
  close(
    all.gradients,
    clipped.gradients.map((value, t) => 0.5 * value + 2 * dpo.gradients[t]! + likelihood.gradients[t]!),
  );
});

it("corrections for another sampler act on each of them as on one alone", async () => {
  const correction = "correction: [{ use: truncate, high: 1.1 }]";
  const [alone, twice] = await Promise.all([
    of(`use: reinforce, ${correction}`),
    of(`use: reinforce, factor: 0.25, ${correction}, also: [{ use: reinforce, factor: 0.75 }]`),
  ]);
  assert.ok(near(twice.loss, alone.loss));
  close(twice.gradients, alone.gradients);
});

it("a factor of 0 leaves the value loss alone, so that a critic can learn first", () => {
  const config = configOf(
    "extends: wsrl\ntasks: [{ env: countdown }]\nreward: { terms: { right: { use: equation } } }\n",
  );
  const [warm, online] = config.stages;
  assert.deepEqual([warm!.body.objective.factor, online!.body.objective.factor], [0, 1]);
  assert.equal(warm!.body.objective.value?.loss.declaration.name, "value_clipped");
});

it("a stage of preferences has no critic's loss where it says so", () => {
  const config = configOf(
    "extends: tulu-3-rlvr\ntasks: [{ env: countdown }]\nreward: { terms: { right: { use: equation } } }\n",
  );
  const [preferences, verifiable] = config.stages;
  assert.equal(preferences!.body.objective.value, undefined);
  assert.equal(verifiable!.body.objective.value?.loss.declaration.name, "value_clipped");
});

it("what an auxiliary loss reads of the writers' log-probs must be there", async () => {
  const lacking = rows.map((one, i) => (i === 1 ? { ...one, logp_old: [-1, null] } : one));
  const told = (objective: string) => explained(`objective: { ${objective} }`, lacking);
  await assert.rejects(
    told("use: reinforce, also: [{ use: clipped, factor: 0.5 }]"),
    /needs "logp_old" for every token that trains, but token 1 of the rollout has none/,
  );
  await assert.rejects(told("use: reinforce, correction: [{ use: truncate, high: 2 }]"), /needs "logp_old"/);
  for (const objective of ["use: reinforce", "use: reinforce, also: [{ use: dpo, weight: difference }]"])
    assert.ok(Number.isFinite(Number((await told(objective)).steps[0]!.loss)), objective);
});
