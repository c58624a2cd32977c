/** Curricula over boxes, by models and on pilots: what they take is there in a simulation, too. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../../server/lib/random.ts";
import { compare } from "../../../../server/analysis/simulate/compare.ts";
import { Learner } from "../../../../server/analysis/simulate/learner.ts";
import { SimulatedPerceptron } from "../../../../server/analysis/simulate/perceptron.ts";
import { pilotsIn } from "../../../../server/analysis/simulate/pilots.ts";
import { scenarios } from "../../../../server/analysis/simulate/scenarios.ts";
import { simulate } from "../../../../server/analysis/simulate/simulate.ts";
import { configOf, near } from "../../support.ts";
import { inLong, some } from "../../../support/thorough.ts";

const bodyOf = (preset: string, more = ""): ReturnType<typeof configOf>["top"] =>
  configOf(
    `extends: ${preset}\ntasks: [{ env: countdown }]\nreward: { terms: { right: equation } }\n${more}`,
    undefined,
    // As the command reads it: what only a run needs, such as the scores of pilots, may be missing.
    true,
  ).top;
const world = (name: string): (typeof scenarios)[number] => scenarios.find((one) => one.name === name)!;

for (const name of some(["mostly_infeasible", "mostly_trivial"], 1))
  test(`ALP-GMM finds what can be learned where points are ${name}, and beats points drawn anywhere`, async () => {
    const body = bodyOf("alp-gmm", "rollout: { prompts: 32, group: 8 }\n");
    const told = await compare(body, world(name), { seeds: 3, steps: 40, seed: 1 });
    const { own, uniform } = told.final;
    assert.ok(
      own.mean - uniform.mean > 2 * Math.hypot(own.error!, uniform.error!),
      JSON.stringify(told.final),
    );
  });

test("a value model of a simulation learns which levels are worth it: PCL leaves what is hopeless", async () => {
  const steps = await simulate(bodyOf("pcl"), world("mostly_infeasible"), 1, 100);
  const hopeless = steps.slice(-20).map(({ mix }) => mix.slice(4).reduce((sum, share) => sum + share, 0));
  assert.ok(hopeless.reduce((sum, share) => sum + share, 0) / 20 < 0.55, "uniform sampling draws 0.6 of it");
});

test("labels order simulated tasks from easy to hard, as the sampler's order takes them", async () => {
  for (const order of ["ascending", "descending"]) {
    const body = bodyOf(
      "gain-rl",
      `curriculum: { estimator: { use: static, by: field, field: hardness }, sampler: { order: ${order}, width: 50 } }\n`,
    );
    const [first] = await simulate(body, world("ladder"), 1, 1);
    assert.ok(first!.mix[0]! > 0.9, String(first!.mix));
  }
});

test("GAIN-RL begins with the easiest tasks and moves on: levels replace the angles that cannot be measured", async () => {
  const body = bodyOf("gain-rl", "curriculum: { sampler: { width: 50, step: 40 } }\n");
  const steps = await simulate(body, world("ladder"), 1, 60);
  assert.ok(steps[0]!.mix[0]! > 0.9, String(steps[0]!.mix));
  assert.ok(steps.at(-1)!.mix[0]! < 0.1, String(steps.at(-1)!.mix));
});

test("each of `tasks` is a level where tasks are arms; a surrogate is fitted on pilots of the learner", async () => {
  const steps = await simulate(bodyOf("modomodo"), world("ladder"), 1, 10);
  const shares = steps[0]!.mix.map((_, level) => steps.reduce((sum, { mix }) => sum + mix[level]!, 0) / 10);
  assert.ok(Math.max(...shares) > 0.2, `it has chosen: ${shares}`);
  const { difficulty } = world("ladder").world(randomStream(1));
  const pilots = pilotsIn(world("ladder").world(randomStream(1)), randomStream(2));
  const start = new Learner(world("ladder").world(randomStream(1))).score();
  for (const { shares: of, score } of pilots) {
    assert.equal(of.length, difficulty.length);
    assert.ok(
      near(
        of.reduce((sum, share) => sum + share, 0),
        1,
        1e-9,
      ),
    );
    assert.ok(score > start);
  }
});

test("a simulation says that it has no language model", async () => {
  const body = bodyOf(
    "pcl",
    "models: { critic: { base: tiny, trains: true, optimizer: { use: adamw, lr: 1.0e-5 }, value_heads: [value] } }\ncurriculum: { estimator: { use: value_head, model: critic, perceptron: null } }\n",
  );
  await assert.rejects(simulate(body, world("ladder"), 1, 1), /no language model/);
});

test("the simulated network fits what it is taught", async () => {
  const net = new SimulatedPerceptron(randomStream("net"));
  const random = randomStream("features");
  const features = {
    rows: 8,
    values: Float64Array.from({ length: 8 * net.inputs }, () => random.next() - 0.5),
  };
  const targets = Float64Array.from({ length: 8 }, (_, i) => i / 8);
  const fit = async (): Promise<number> => {
    const { loss } = await net.update(features, (outputs) => ({
      loss: outputs.reduce((sum, y, i) => sum + (y - targets[i]!) ** 2, 0) / 8,
      gradients: outputs.map((y, i) => (2 * (y - targets[i]!)) / 8),
    }));
    return loss;
  };
  const before = await fit();
  for (let i = 0; i < 300; i++) await fit();
  assert.ok((await fit()) < 0.02 * before);
});

inLong(
  "AGAIN follows the runs of other simulated learners, whatever file the config names, and does no worse than its pre-run alone",
  async () => {
    const sampler =
      "curriculum: { sampler: { fit_every: 60, components: [2, 3], probe_every: 60, least: 0.02";
    const bodies = ["} }", ", from: [none.jsonl] } }"].map((end) =>
      bodyOf("again", `rollout: { prompts: 32, group: 8 }\n${sampler}${end}\n`),
    );
    const [alone, following] = await Promise.all(
      bodies.map((body) => compare(body, world("mostly_infeasible"), { seeds: 2, steps: 24, seed: 1 })),
    );
    assert.notDeepEqual(alone!.final.own, following!.final.own);
    const [one, other] = [alone!.final.own, following!.final.own];
    assert.ok(
      other.mean - one.mean > -2 * Math.hypot(one.error!, other.error!),
      JSON.stringify([one, other, following!.final.uniform]),
    );
  },
);
