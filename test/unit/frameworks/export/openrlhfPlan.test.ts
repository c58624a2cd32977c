/** Single flags of an export to OpenRLHF, where the arithmetic is ours. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../../shared/lib/json.ts";
import { flagLines } from "../../../../server/frameworks/trainers/openrlhf/project/launchText.ts";
import {
  openRlhfPlan,
  type OpenRlhfPlan,
} from "../../../../server/frameworks/trainers/openrlhf/lens/plan.ts";
import { configOf } from "../../support.ts";

const plan = (text: string): OpenRlhfPlan =>
  openRlhfPlan(
    configOf(
      `tasks: [{ env: countdown, numbers: [3] }]\n${text.includes("reward:") ? "" : "reward: { terms: { correct: equation } }\n"}steps: 10\n${text}`,
    ),
  );
const changed = ({ missing }: OpenRlhfPlan): string[] =>
  missing.flatMap(({ key, changes }) => (changes === "algorithm" ? [key] : []));

const chosen = ({ settings }: OpenRlhfPlan, pattern: RegExp): JsonObject =>
  Object.fromEntries(Object.entries(settings).filter(([key]) => pattern.test(key)));

describe("OpenRLHF's flags", () => {
  it("count prompts of a step and rollouts of an update", () => {
    const found = plan("rollout: { prompts: 6, group: 4 }\nupdate: { mini_batch: 8, epochs: 2 }\n");
    assert.deepEqual(chosen(found, /batch_size|n_samples|max_epochs|max_samples/), {
      ...{ "rollout.batch_size": 6, "rollout.n_samples_per_prompt": 4, "train.batch_size": 8 },
      ...{ "train.max_epochs": 2, "data.max_samples": 60, "eval.n_samples_per_prompt": 8 },
      ...{ "train.micro_batch_size": 4, "rollout.micro_batch_size": 4 },
    });
    assert.deepEqual(changed(found), []);
  });

  it("warm up for a whole number of updates, whatever the ratio's last digit", () => {
    for (let warmup = 1; warmup <= 40; warmup++) {
      const found = plan(
        `rollout: { prompts: 6, group: 4 }\nupdate: { mini_batch: 6, epochs: 2, optimizer: { warmup: ${warmup} } }\n`,
      );
      assert.equal(found.settings["actor.lr_scheduler"], "constant_with_warmup");
      assert.equal(Math.ceil(80 * Number(found.settings["actor.lr_warmup_ratio"])), warmup);
    }
  });

  it("follow the courses of transformers that have no parameters, and the floor of the cosine", () => {
    const course = (schedule: string): readonly unknown[] => {
      const found = plan(`update: { optimizer: { warmup: 1, schedule: ${schedule} } }\n`);
      const { "actor.lr_scheduler": kind, "actor.min_lr_ratio": floor } = found.settings;
      return [kind, floor, ...changed(found)];
    };
    assert.deepEqual(course("linear"), ["linear", undefined]);
    assert.deepEqual(course("cosine"), ["cosine", undefined]);
    assert.deepEqual(course("{ shape: cosine, floor: 0.2 }"), ["cosine_with_min_lr", 0.2]);
    assert.deepEqual(course("inverse_sqrt"), ["inverse_sqrt", undefined]);
    assert.deepEqual(course("{ shape: wsd, decay: 3 }"), [
      ...["constant_with_warmup", undefined, "update.optimizer.schedule"],
    ]);
  });

  it("filter by the shares of successes that a band holds, its ends included or not", () => {
    const range = (admission: string, reward = "{ terms: { correct: equation } }"): unknown =>
      plan(`reward: ${reward}\nrollout: { group: 8 }\ncurriculum: { admission: ${admission} }\n`).settings[
        "algo.dynamic_filtering_range"
      ];
    // The range's own default is DAPO's.
    assert.equal(range("{ use: success_band, low: 0, high: 1, inclusive: false }"), undefined);
    // 2 to 6 of 8.
    assert.deepEqual(range("{ use: success_band, low: 0.2, high: 0.8 }"), [1.5 / 8, 6.5 / 8]);
    assert.deepEqual(range("{ use: success_band, low: 0.25, high: 0.75 }"), [1.5 / 8, 6.5 / 8]);
    const varied = plan(
      "rollout: { group: 8 }\ncurriculum: { admission: { use: nonzero_variance, refill: adaptive } }\n",
    );
    assert.equal(varied.settings["algo.dynamic_filtering_enable"], true);
    assert.deepEqual(changed(varied), []);
    for (const terms of ["{ correct: { use: equation, partial: 0.1 } }", "{ a: equation, b: length }"]) {
      const found = plan(
        `reward: { terms: ${terms} }\nrollout: { group: 8 }\ncurriculum: { admission: nonzero_variance }\n`,
      );
      assert.deepEqual(changed(found), ["curriculum.admission"]);
      assert.equal(found.settings["algo.dynamic_filtering_enable"], undefined);
    }
  });

  it("subtract the mean of a step where a group is one response", () => {
    const found = plan("rollout: { group: 1 }\nadvantage: { baseline: moving_average, scale: none }\n");
    assert.equal(found.settings["algo.advantage.estimator"], "flash_reinforce");
    assert.ok(changed(found).includes("advantage.baseline"));
  });

  it("have the policy gradient in the single update of a step alone", () => {
    assert.deepEqual(changed(plan("objective: reinforce\n")), []);
    assert.deepEqual(changed(plan("objective: reinforce\nupdate: { epochs: 2 }\n")), ["objective"]);
  });

  it("train all weights in the place of an adapter, which vLLM is not given", () => {
    const found = plan("model: { base: tiny, adapter: { use: lora, rank: 8, alpha: 16 } }\n");
    assert.deepEqual(changed(found), ["model.adapter"]);
    assert.equal(found.settings["ds.lora.rank"], undefined);
  });

  it("charge a penalty in the reward after a group's baseline, and say so", () => {
    const kl =
      "kl: [{ model: reference, estimator: { use: k1, clamp: 10 }, place: reward, coefficient: 0.1 }]\n";
    assert.deepEqual(changed(plan(kl)), ["advantage.penalty"]);
    assert.deepEqual(changed(plan(`advantage: { penalty: apart }\n${kl}`)), []);
  });

  it("are words that argparse and a shell read as they are", () => {
    assert.deepEqual(
      flagLines({
        ...{
          on: true,
          off: false,
          none: null,
          range: [-1e9, 2.5],
          small: -1e-7,
          text: "it's $5",
          dashed: "-x",
        },
        place: "${project}/model",
      }),
      [
        ...["--on", "--range -1000000000 2.5", "--small -0.0000001", `--text 'it'\\''s $5'`, "--dashed=-x"],
        '--place "$here/model"',
      ],
    );
  });
});
