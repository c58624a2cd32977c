/** Settings of SkyRL in its two forms; they are converted, and checked nowhere. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { UserError } from "../../../../shared/lib/errors.ts";
import { convert, type Converted } from "../../../../server/frameworks/trainers/convert.ts";
import { readFrameworkDocument } from "../../../../server/frameworks/check/index.ts";

const launch = (words: string): string =>
  `set -x\nGROUP=8\nuv run --isolated --extra fsdp -m skyrl.train.entrypoints.main_base \\\n  ${words.split(" ").join(" \\\n  ")} $@\n`;

const script = (words: string): Converted => convert("/nowhere/run.sh", launch(words));
const needed =
  "trainer.algorithm.advantage_estimator=grpo generator.n_samples_per_prompt=$GROUP trainer.train_batch_size=4";

const keys = ({ unmapped }: Converted): string[] => unmapped.map(({ key }) => key);

describe("a launch script of SkyRL", () => {
  it("is converted with SkyRL's defaults", () => {
    const { framework, config } = script(`${needed} trainer.policy_mini_batch_size=2`);
    assert.equal(framework, "skyrl");
    const { rollout, objective, advantage, kl, mask, update } = parse(config);
    assert.deepEqual([rollout.prompts, rollout.group, rollout.max_tokens], [4, 8, 1024]);
    assert.deepEqual(update.mini_batch, 16);
    assert.deepEqual([objective.use, objective.low, objective.aggregate], ["clipped", 0.2, "token_mean"]);
    assert.deepEqual(advantage.scale, { use: "group_std", epsilon: 0.000001, single: "one" });
    // The penalty is on by default, and averaged by response.
    assert.deepEqual([kl[0].place, kl[0].coefficient, kl[0].aggregate], ["loss", 0.001, "sequence_mean"]);
    assert.deepEqual(mask, []);
  });

  it("says what has no counterpart, each with a reason of its own", () => {
    const found = script(
      `${needed} generator.sampling_params.temperature=0.6 generator.sampling_params.repetition_penalty=1.1 trainer.algorithm.zero_variance_filter=true trainer.placement.policy_num_gpus_per_node=8 trainer.algorithm.loss_reduction=prompt_mean`,
    );
    for (const key of [
      "trainer.algorithm.temperature",
      "generator.sampling_params.repetition_penalty",
      "trainer.algorithm.zero_variance_filter",
      "trainer.placement.policy_num_gpus_per_node",
      "trainer.algorithm.loss_reduction",
      "environment.env_class",
    ])
      assert.ok(keys(found).includes(key), key);
    assert.equal(
      keys(script(`${needed} trainer.algorithm.temperature=1`)).includes("trainer.algorithm.temperature"),
      false,
    );
  });

  it("is known by SkyRL's module, or by name where another starts it", () => {
    const text = launch(needed).replace("skyrl.train", "ours.train");
    assert.throws(() => convert("/nowhere/run.sh", text), UserError);
    assert.equal(convert("/nowhere/run.sh", text, "skyrl").framework, "skyrl");
    assert.throws(
      () => convert("/nowhere/run.sh", "python -m verl.trainer.main_ppo data.train_batch_size=4", "skyrl"),
      UserError,
    );
  });
});

describe("a YAML file of SkyRL", () => {
  const text = `project: .
data: { train_data: ["\${project}/train.parquet"] }
trainer:
  train_batch_size: 8
  policy_mini_batch_size: 4
  placement: { policy_num_gpus_per_node: 1, ref_num_gpus_per_node: "\${trainer.placement.policy_num_gpus_per_node}" }
  policy: { model: { path: "\${project}/model" } }
  algorithm:
    advantage_estimator: rloo
    policy_loss_type: rollout_is
    use_kl_loss: false
generator:
  n_samples_per_prompt: 4
`;

  it("is converted", () => {
    const { framework, config } = convert("/nowhere/config.yaml", text);
    assert.equal(framework, "skyrl");
    const { objective, advantage, kl, model, tasks } = parse(config);
    assert.equal(tasks[0].dataset, "./train.parquet");
    assert.equal(objective.use, "reinforce");
    assert.deepEqual(objective.correction, [
      { use: "mask", numerator: "now", level: "token", low: 0.8, high: 1.2, clamp_log_ratio: 20 },
    ]);
    assert.deepEqual(advantage.baseline, { use: "leave_one_out", single: "zero" });
    assert.deepEqual(kl, []);
    assert.equal(model.base, "./model");
  });

  it("is of no trainer that is checked", () => {
    assert.equal(readFrameworkDocument("/nowhere/config.yaml", text, { environment: "" }), undefined);
    assert.equal(readFrameworkDocument("/nowhere/run.sh", launch(needed), { environment: "" }), undefined);
  });

  it("has corrections where the loss has weights", () => {
    const correction = (more: string): unknown =>
      parse(
        convert(
          "/nowhere/config.yaml",
          text
            .replace("rollout_is", "regular")
            .replace("use_kl_loss: false", `use_kl_loss: false\n    off_policy_correction: ${more}`),
        ).config,
      ).objective.correction;
    assert.deepEqual(correction("{ tis_ratio_type: token, token_tis_ratio_clip_high: 3 }"), [
      { use: "truncate", level: "token", high: 3, clamp_log_ratio: 20 },
    ]);
    assert.deepEqual(
      correction(
        "{ tis_ratio_type: token, token_tis_ratio_clip_high: 1.0e+9, sequence_mask_metric: geometric }",
      ),
      [{ use: "mask", level: "sequence_mean", low: 0.99, high: 1.01, weight: "token", clamp_log_ratio: 20 }],
    );
    assert.equal(correction("{ sequence_mask_metric: product }"), undefined);
  });
});
