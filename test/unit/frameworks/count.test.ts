/** argparse's counts: what a flag is given, and what its parser takes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { briefly } from "./support.ts";

const heard = (command: string): string[] =>
  briefly("run.sh", `${command}\n`)
    .filter((line) => !line.includes("unset-variable"))
    .map((line) => line.replace("foreign-", ""));

const openrlhf = (flags: string): string[] => heard(`python3 -m openrlhf.cli.train_ppo_ray ${flags}`);
const trl = (flags: string): string[] => heard(`trl grpo --model_name_or_path a/b ${flags}`);

describe("flags of OpenRLHF", () => {
  it("that take one value want one", () => {
    assert.deepEqual(openrlhf("--actor.model_name_or_path a/b c/d"), ["error count: a/b c/d"]);
    assert.deepEqual(openrlhf("--actor.model_name_or_path --train.colocate_all"), [
      "error count: actor.model_name_or_path",
    ]);
    assert.deepEqual(openrlhf("--actor.model_name_or_path 'a/b c/d'"), []);
    assert.deepEqual(openrlhf("--algo.kl.init_coef -1 -2"), ["error count: -1 -2"]);
  });
  it("that are switches want none", () => {
    assert.deepEqual(openrlhf("--train.colocate_all True"), ["error count: True"]);
    assert.deepEqual(openrlhf("--train.colocate_all=False"), ["error count: False"]);
    assert.deepEqual(openrlhf("--train.colocate_all"), []);
  });
  it("that take two want two, and numbers where they are numbers", () => {
    assert.deepEqual(openrlhf("--actor.adam.betas 0.9"), ["error count: 0.9"]);
    assert.deepEqual(openrlhf("--actor.adam.betas 0.9 0.95 0.99"), ["error count: 0.9 0.95 0.99"]);
    assert.deepEqual(openrlhf("--actor.adam.betas 0.9 high"), ["error type: 0.9 high"]);
    assert.deepEqual(openrlhf("--actor.adam.betas 0.9 0.95"), []);
    assert.deepEqual(openrlhf("--reward.clip_range -10 10"), []);
  });
  it("that take one or two refuse a third", () => {
    const flag = "--algo.advantage.is_correction_threshold";
    assert.deepEqual(openrlhf(`${flag} 0.5 2 5`), ["error count: 0.5 2 5"]);
    assert.deepEqual(openrlhf(`${flag} 5`), []);
    assert.deepEqual(openrlhf(`${flag} 0.5 5`), []);
  });
  it("say nothing of what a variable may hold", () => {
    assert.deepEqual(openrlhf('--train.colocate_all "$@"'), []);
    assert.deepEqual(openrlhf("--actor.adam.betas $BETAS"), []);
    assert.deepEqual(openrlhf('--actor.model_name_or_path a/b "$@"'), []);
    assert.deepEqual(openrlhf('--train.colocate_all "${EXTRA[@]}"'), []);
    assert.deepEqual(openrlhf("--train.colocate_all $1"), []);
  });
  it("end where the shell's own words begin", () => {
    assert.deepEqual(openrlhf("--train.colocate_all 2>&1 | tee log.txt"), []);
    assert.deepEqual(openrlhf("--train.colocate_all > log.txt"), []);
    assert.deepEqual(openrlhf("--actor.model_name_or_path a/b &"), []);
    assert.deepEqual(openrlhf("--train.colocate_all && echo done"), []);
    assert.deepEqual(openrlhf("--train.colocate_all # all on one"), []);
  });
  it("count what a variable is set to", () => {
    const script = (value: string): string[] =>
      heard(`BETAS="${value}"\npython3 -m openrlhf.cli.train_ppo_ray --actor.adam.betas $BETAS`);
    assert.deepEqual(script("0.9 0.95"), []);
    assert.equal(script("0.9").length, 1);
  });
});

describe("flags of TRL's own programs", () => {
  it("take one value, a list one or more, a switch none or one", () => {
    assert.deepEqual(trl("--learning_rate 1e-6 2e-6"), ["error count: 1e-6 2e-6"]);
    assert.deepEqual(trl("--output_dir"), ["error count: output_dir"]);
    assert.deepEqual(trl("--run_name one two"), ["error count: one two"]);
    assert.deepEqual(trl("--lr_scheduler_type cosine linear"), ["error count: cosine linear"]);
    assert.deepEqual(trl("--bf16 true false"), ["error count: true false"]);
    assert.deepEqual(trl("--reward_weights"), ["error count: reward_weights"]);
    assert.deepEqual(trl("--report_to wandb tensorboard"), ["error count: wandb tensorboard"]);
    assert.deepEqual(trl("--log_completions"), []);
    assert.deepEqual(trl("--log_completions true --use_vllm False --report_to wandb"), []);
    assert.deepEqual(trl("--reward_funcs accuracy_reward think_format_reward"), []);
  });
  it("are not counted for a script of somebody's own", () => {
    const flags = "--model_name_or_path a/b --num_generations 8 --max_completion_length 64";
    assert.deepEqual(heard(`python train_grpo.py ${flags} --run_name one two`), []);
  });
});
