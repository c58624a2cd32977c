/** Numbers out of range and names that are none, in the three frameworks. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { briefly, mended } from "./support.ts";

const value = (line: string): boolean => line.includes("foreign-value") || line.includes("foreign-type");
const verl = (...overrides: readonly string[]): string[] =>
  briefly(
    "run.sh",
    `python3 -m verl.trainer.main_ppo data.train_files=a.parquet actor_rollout_ref.rollout.name=vllm ${overrides.join(" ")}\n`,
  ).filter(value);
const trl = (more: string): string[] =>
  briefly("grpo.yaml", `model_name_or_path: a/b\nnum_generations: 8\n${more}\n`).filter(value);
const openrlhf = (flags: string): string[] =>
  briefly("run.sh", `python3 -m openrlhf.cli.train_ppo_ray ${flags}\n`).filter(value);

describe("numbers out of range", () => {
  it("are refused by verl", () => {
    for (const [key, bad, good] of [
      ["actor_rollout_ref.rollout.gpu_memory_utilization", "1.5", "0.6"],
      ["actor_rollout_ref.rollout.top_p", "0", "1.0"],
      ["actor_rollout_ref.rollout.n", "0", "8"],
      ["data.max_response_length", "0", "1024"],
      ["actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "0", "null"],
      ["actor_rollout_ref.rollout.tensor_model_parallel_size", "0", "2"],
      ["actor_rollout_ref.actor.optim.lr", "-1e-6", "1e-6"],
      ["trainer.nnodes", "0", "1"],
    ] as const) {
      assert.deepEqual(verl(`${key}=${bad}`), [`error foreign-value: ${bad}`], key);
      assert.deepEqual(verl(`${key}=${good}`), [], key);
    }
    assert.deepEqual(verl("critic.ppo_mini_batch_size=0", "algorithm.adv_estimator=grpo"), [
      "warning foreign-value: 0",
    ]);
  });
  it("are refused by TRL and Transformers", () => {
    for (const [key, bad, good] of [
      ["top_entropy_quantile", "-0.2", "0.2"],
      ["gradient_accumulation_steps", "0", "1"],
      ["max_completion_length", "0", "256"],
      ["warmup_steps", "-5", "5"],
      ["adam_beta2", "1.0", "0.999"],
      ["weight_decay", "-0.1", "0"],
      ["torch_empty_cache_steps", "0", "4"],
    ] as const) {
      assert.deepEqual(trl(`${key}: ${bad}`), [`error foreign-value: ${bad}`], key);
      assert.deepEqual(trl(`${key}: ${good}`), [], key);
    }
    assert.deepEqual(trl("vllm_gpu_memory_utilization: 3"), ["warning foreign-value: 3"]);
    assert.deepEqual(trl("use_vllm: true\nvllm_gpu_memory_utilization: 3"), ["error foreign-value: 3"]);
  });
  it("are refused by OpenRLHF", () => {
    for (const [flag, bad, good] of [
      ["ds.zero_stage", "4", "3"],
      ["logger.logging_steps", "0", "1"],
      ["rollout.micro_batch_size", "0", "4"],
      ["rollout.top_p", "1.2", "0.9"],
    ] as const) {
      assert.deepEqual(openrlhf(`--${flag} ${bad}`), [`error foreign-value: ${bad}`], flag);
      assert.deepEqual(openrlhf(`--${flag} ${good}`), [], flag);
    }
  });
});

describe("names that are none", () => {
  it("are read from verl's data classes", () => {
    for (const [key, bad, good] of [
      ["actor_rollout_ref.actor.optim.lr_scheduler_type", "linear", "cosine"],
      ["actor_rollout_ref.actor.fsdp_config.model_dtype", "float8", "bf16"],
      ["actor_rollout_ref.actor.strategy", "ddp", "fsdp2"],
      ["data.truncation", "cut", "left"],
    ] as const) {
      assert.deepEqual(verl(`${key}=${bad}`), [`error foreign-value: ${bad}`], key);
      assert.deepEqual(verl(`${key}=${good}`), [], key);
    }
  });
  it("are read from Transformers' enumerations and trackers", () => {
    assert.deepEqual(trl("report_to: wandbb"), ["error foreign-value: wandbb"]);
    assert.deepEqual(trl("report_to: [wandb, nothing]"), ["error foreign-value: [wandb, nothing]"]);
    assert.deepEqual(trl("report_to: [wandb, tensorboard]"), []);
    assert.deepEqual(trl("dtype: float8"), ["error foreign-value: float8"]);
    assert.deepEqual(trl("dtype: float64"), []);
    assert.deepEqual(trl("bnb_4bit_quant_type: int4"), ["warning foreign-value: int4"]);
    assert.deepEqual(trl("trackio_static_space_id: me/space"), []);
  });
  it("a bare no of YAML is a flag", () => {
    const file = "model_name_or_path: a/b\nnum_generations: 8\neval_strategy: no\n";
    assert.deepEqual(trl("eval_strategy: no"), ["error foreign-value: no"]);
    assert.deepEqual(trl('eval_strategy: "no"'), []);
    assert.deepEqual(briefly("grpo.yaml", mended("grpo.yaml", file)), []);
    assert.deepEqual(
      briefly("run.sh", "trl grpo --model_name_or_path a/b --eval_strategy no\n").filter(value),
      [],
    );
  });
});
