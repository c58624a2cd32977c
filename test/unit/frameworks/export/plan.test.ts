/** Single settings of an export to TRL, where the arithmetic is ours. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../../shared/lib/json.ts";
import { trlPlan, type TrlPlan } from "../../../../server/frameworks/trainers/trl/lens/plan.ts";
import { configOf } from "../../support.ts";

const plan = (text: string): TrlPlan =>
  trlPlan(
    configOf(
      `tasks: [{ env: countdown, numbers: [3] }]\nreward: { terms: { correct: equation } }\nsteps: 10\n${text}`,
    ),
  );
const changed = ({ missing }: TrlPlan): string[] =>
  missing.flatMap(({ key, changes }) => (changes === "algorithm" ? [key] : []));

const batch = ({ settings }: TrlPlan): JsonObject =>
  Object.fromEntries(
    [
      ...["num_generations", "per_device_train_batch_size", "gradient_accumulation_steps"],
      ...["steps_per_generation", "num_iterations", "max_steps", "save_steps"],
    ].flatMap((key) => (settings[key] === undefined ? [] : [[key, settings[key]]])),
  );

describe("TRL's settings", () => {
  it("count completions, and steps of the optimiser", () => {
    const found = plan(
      "rollout: { prompts: 6, group: 4 }\nupdate: { mini_batch: 12, epochs: 2 }\ncheckpoint: { every: 5 }\n",
    );
    assert.deepEqual(batch(found), {
      ...{ num_generations: 4, per_device_train_batch_size: 6, gradient_accumulation_steps: 2 },
      ...{ steps_per_generation: 4, num_iterations: 2, max_steps: 40, save_steps: 20 },
    });
  });

  it("take what a device reads from the config, and keep the batch", () => {
    const small = plan(
      "rollout: { prompts: 6, group: 4 }\nengine: { use: trl, args: { per_device_train_batch_size: 5 } }\n",
    );
    assert.deepEqual(
      [batch(small)["per_device_train_batch_size"], batch(small)["gradient_accumulation_steps"]],
      [4, 6],
    );
    const own = plan(
      "engine: { use: trl, args: { per_device_train_batch_size: 4, gradient_accumulation_steps: 2 } }\n",
    );
    assert.deepEqual(
      [batch(own)["per_device_train_batch_size"], batch(own)["gradient_accumulation_steps"]],
      [4, 2],
    );
  });

  it("make up for leaving a rollout out of its own baseline, where nothing divides", () => {
    const loo = plan("rollout: { group: 4 }\nadvantage: { baseline: leave_one_out, scale: none }\n");
    assert.deepEqual([loo.rewardFactor, changed(loo)], [4 / 3, []]);
    const scaled = plan("rollout: { group: 4 }\nadvantage: { baseline: leave_one_out }\n");
    assert.deepEqual([scaled.rewardFactor, changed(scaled)], [1, ["advantage.baseline"]]);
  });

  it("have the policy gradient in the single update of a generation alone", () => {
    assert.deepEqual(changed(plan("objective: reinforce\n")), []);
    assert.deepEqual(changed(plan("objective: reinforce\nupdate: { epochs: 2 }\n")), ["objective"]);
  });

  it("correct where vLLM generates", () => {
    const text = "objective: { correction: [{ use: truncate, level: sequence, high: 3 }] }\n";
    const there = plan(text).missing.find(({ key }) => key === "objective.correction");
    assert.equal(there?.changes, "nothing-trained");
    const { settings } = plan(`${text}engine: { use: trl, args: { use_vllm: true } }\n`);
    assert.equal(settings["vllm_importance_sampling_mode"], "sequence_truncate");
    const none = plan("engine: { use: trl, args: { use_vllm: true } }\n").settings;
    assert.equal(none["vllm_importance_sampling_correction"], false);
  });

  it("follow the learning rate over the optimiser's steps", () => {
    const course = (schedule: string): JsonObject => {
      const { settings } = plan(`update: { epochs: 2, optimizer: { warmup: 4, schedule: ${schedule} } }\n`);
      return {
        kind: settings["lr_scheduler_type"] ?? null,
        ...(settings["lr_scheduler_kwargs"] as JsonObject),
      };
    };
    assert.deepEqual(course("constant"), { kind: "constant_with_warmup" });
    assert.deepEqual(course("linear"), { kind: "linear" });
    assert.deepEqual(course("{ shape: cosine, floor: 0.1 }"), {
      kind: "cosine_with_min_lr",
      min_lr_rate: 0.1,
    });
    assert.deepEqual(course("{ shape: wsd, decay: 3 }"), {
      ...{ kind: "warmup_stable_decay", num_decay_steps: 6, decay_type: "linear", min_lr_ratio: 0 },
    });
    assert.deepEqual(changed(plan("update: { optimizer: { schedule: { shape: linear, floor: 0.5 } } }\n")), [
      "update.optimizer.schedule",
    ]);
  });
});
