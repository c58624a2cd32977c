/** Files copied out of their repository: nothing says for which release they are. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Diagnostic } from "../../../server/config/check/diagnostic.ts";
import { tableOf } from "../../../server/frameworks/releases/load.ts";
import { diagnosed } from "../../support/frameworkFixture.ts";

const common = [
  "algorithm.adv_estimator=grpo",
  "data.train_files=train.parquet",
  "data.val_files=test.parquet",
  "data.train_batch_size=256",
  "data.max_prompt_length=512",
  "data.max_response_length=1024",
  "actor_rollout_ref.model.path=Qwen/Qwen3-8B",
  "actor_rollout_ref.actor.optim.lr=1e-6",
  "actor_rollout_ref.actor.ppo_mini_batch_size=64",
  "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4",
  "actor_rollout_ref.rollout.name=vllm",
  "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=4",
  "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu=4",
  "actor_rollout_ref.rollout.n=8",
  "trainer.n_gpus_per_node=8",
];
const moved = "critic.model.fsdp_config.param_offload=True";
const newest = tableOf("verl").versions.at(-1) ?? "";

const found = (settings: readonly string[], head = ""): readonly Diagnostic[] =>
  (
    diagnosed("/nowhere/run.sh", `${head}python3 -m verl.trainer.main_ppo ${settings.join(" \\\n    ")}\n`) ??
    []
  ).filter(({ severity }) => severity !== "info");
const briefly = (all: readonly Diagnostic[]): string[] =>
  all.map(({ severity, rule, key }) => `${severity} ${rule} ${key}`);

describe("a whole file that names no release", () => {
  it("has nothing found in it where all its keys are the newest's", () => {
    assert.deepEqual(briefly(found(common)), []);
  });

  it("is warned of keys that a later release than its own moved, with both releases", () => {
    const [one, ...others] = found([...common, moved]);
    assert.deepEqual(others, []);
    assert.equal(`${one?.severity} ${one?.rule}`, "warning foreign-moved-key");
    assert.match(
      one?.message ?? "",
      new RegExp(`Checked against verl ${newest}.*verl \\d+\\.\\d+\\.\\d+ accepts it`),
    );
    assert.equal(one?.fixes?.[0]?.title, "Rename to `critic.fsdp.param_offload`");
  });

  it("has an error there where the release is named, or little else is written", () => {
    const expected = ["error foreign-moved-key critic.model.fsdp_config.param_offload"];
    assert.deepEqual(briefly(found([...common, moved], `# verl ${newest}\n`)), expected);
    assert.ok(briefly(found([moved])).includes(expected[0]!));
  });

  it("is warned of a key that no release has and that resembles none: a later one may", () => {
    const [one] = found([...common, "trainer.brand_new_switch=1"]);
    assert.equal(`${one?.severity} ${one?.rule}`, "warning foreign-unknown-key");
    assert.match(one?.message ?? "", /a later release may have it/);
    const named = found([...common, "trainer.brand_new_switch=1"], `# verl ${newest}\n`);
    assert.equal(named[0]?.severity, "error");
  });

  it("has an error for every slip of the fingers, next to a moved key too", () => {
    for (const slip of [
      "data.train_batchsize=8",
      "trainer.n_gpu_per_node=8",
      "actor_rollout_ref.rollout.nn=8",
      "data.tarin_batch_size=8",
    ])
      for (const settings of [
        [...common, slip],
        [...common, moved, slip],
      ]) {
        const errors = found(settings).filter(({ severity }) => severity === "error");
        assert.deepEqual(briefly(errors), [`error foreign-unknown-key ${slip.split("=")[0]}`]);
      }
  });

  it("has an error for what every release refuses", () => {
    const errors = found([...common, moved, "actor_rollout_ref.rollout.top_p=2"]);
    assert.deepEqual(briefly(errors.filter(({ severity }) => severity === "error")), [
      "error foreign-value actor_rollout_ref.rollout.top_p",
    ]);
  });
});
