/** One step in numbers. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { geometryOf, DocumentModel } from "../../../server/frameworks/check/index.ts";
import { read } from "./support.ts";

const numbers = (name: string, text: string): (number | undefined)[] =>
  geometryOf(new DocumentModel(read(name, text))).map(({ value }) => value);

describe("the batches of one step", () => {
  it("of verl", () => {
    const text =
      "python3 -m verl.trainer.main_ppo data.train_batch_size=256 actor_rollout_ref.rollout.n=8 actor_rollout_ref.actor.ppo_mini_batch_size=64 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 trainer.nnodes=2 trainer.n_gpus_per_node=8";
    // Prompts, samples, optimiser steps, samples of one, of them on each of 16 ranks, micro-batches.
    assert.deepEqual(numbers("x.sh", text), [256, 2048, 4, 512, 32, 8]);
    const parallel = `${text} actor_rollout_ref.actor.ulysses_sequence_parallel_size=2`;
    assert.deepEqual(numbers("x.sh", parallel).slice(4), [64, 16]);
    assert.equal(numbers("x.sh", `${text} actor_rollout_ref.actor.use_dynamic_bsz=True`).at(-1), undefined);
  });

  it("of TRL", () => {
    const text =
      "num_generations: 8\nper_device_train_batch_size: 4\ngradient_accumulation_steps: 2\nsteps_per_generation: 8\nnum_iterations: 2\n";
    // Completions and prompts of a generation, completions of an optimiser step, such steps, micro-batches.
    assert.deepEqual(numbers("x.yaml", text), [32, 4, 8, 8, 2]);
    const four =
      "accelerate launch --num_processes 4 -m trl.scripts.grpo --num_generations 8 --beta 0 --per_device_train_batch_size 4";
    assert.deepEqual(numbers("x.sh", four), [16, 2, 16, 1, 1]);
  });

  it("of OpenRLHF, under either name", () => {
    const now =
      "openrlhf.cli.train_ppo_ray --rollout.batch_size 128 --rollout.n_samples_per_prompt 8 --train.batch_size 256 --train.micro_batch_size 4 --actor.num_nodes 1 --actor.num_gpus_per_node 8";
    assert.deepEqual(numbers("x.sh", now), [128, 1024, 4, 8]);
    const before =
      "# OpenRLHF 0.9.4\nopenrlhf.cli.train_ppo_ray --rollout_batch_size 128 --n_samples_per_prompt 8 --train_batch_size 256 --micro_train_batch_size 4 --actor_num_nodes 1 --actor_num_gpus_per_node 8";
    assert.deepEqual(numbers("x.sh", before), [128, 1024, 4, 8]);
  });
});
