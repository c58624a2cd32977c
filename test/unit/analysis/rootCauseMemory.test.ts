/** Memory that ran out: which key changes it depends on what was computed. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { rootCause } from "../../../server/analysis/failure/rootCause.ts";
import { frame, ofRay, oom, packages, traceback, worker } from "./failedLogs.ts";

describe("device memory that ran out", () => {
  it("in vLLM's worker is the engine's share", () => {
    const found = rootCause(
      ofRay(
        [
          frame("/home/me/verl/workers/fsdp_workers.py", 640, "generate_sequences"),
          frame(`${packages}/vllm/executor/executor_base.py`, 216, "wake_up"),
          frame(`${packages}/vllm/device_allocator/cumem.py`, 75, "create_and_map"),
        ],
        "RuntimeError",
        "CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62",
      ),
    );
    assert.deepEqual(
      [found?.trainer, found?.key, found?.where],
      [
        "verl",
        "actor_rollout_ref.rollout.gpu_memory_utilization",
        "/home/me/verl/workers/fsdp_workers.py:640",
      ],
    );
    assert.match(found?.action ?? "", /^Lower actor_rollout_ref\.rollout\.gpu_memory_utilization/);
  });

  it("in the backward pass is the micro-batch, of each trainer's own name", () => {
    const ending = [
      frame(`${packages}/torch/_tensor.py`, 648, "backward"),
      frame(`${packages}/torch/autograd/graph.py`, 829, "_engine_run_backward"),
    ];
    const verl = rootCause(
      ofRay(
        [frame("/home/me/verl/workers/actor/dp_actor.py", 501, "update_policy"), ...ending],
        "torch.OutOfMemoryError",
        oom,
      ),
    );
    assert.deepEqual(
      [verl?.key, verl?.gradus],
      ["actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "update.micro_tokens"],
    );
    assert.equal(
      verl?.cause,
      "The device ran out of memory in the backward pass, when 2.25 GiB more were asked for.",
    );
    const trl = rootCause(
      `  3%|▎         | 12/400 [01:02<33:10]\n${traceback(
        [
          frame("/home/me/train.py", 40, "<module>"),
          frame(`${packages}/trl/trainer/grpo_trainer.py`, 1102, "training_step"),
          ...ending,
        ],
        `[rank1]: torch.OutOfMemoryError: ${oom}`,
      )
        .split("\n")
        .map((line) => (line.startsWith("[rank1]") ? line : `[rank1]: ${line}`))
        .join("\n")}`,
    );
    assert.deepEqual(
      [trl?.trainer, trl?.key, trl?.where],
      ["trl", "per_device_train_batch_size", `${packages}/trl/trainer/grpo_trainer.py:1102`],
    );
    const own = rootCause(
      traceback(
        [frame("/x/openrlhf/trainer/ray/ppo_actor.py", 180, "training_step"), ...ending],
        `torch.cuda.OutOfMemoryError: ${oom}`,
      ),
    );
    assert.equal(own?.key, "train.micro_batch_size");
  });

  it("in log-probs, in the optimiser and elsewhere has keys of its own", () => {
    const key = (...names: readonly [string, string][]): string | null | undefined =>
      rootCause(
        ofRay(
          [
            frame("/home/me/verl/workers/fsdp_workers.py", 9, "func"),
            ...names.map(([file, name]) => frame(file, 5, name)),
          ],
          "torch.OutOfMemoryError",
          oom,
        ),
      )?.key;
    assert.equal(
      key(["/home/me/verl/workers/actor/dp_actor.py", "compute_log_prob"]),
      "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu",
    );
    assert.equal(
      key([`${packages}/torch/optim/adamw.py`, "_init_group"]),
      "actor_rollout_ref.actor.fsdp_config.optimizer_offload",
    );
    assert.equal(
      key([`${packages}/transformers/modeling_utils.py`, "from_pretrained"]),
      "actor_rollout_ref.actor.fsdp_config.param_offload",
    );
    assert.equal(
      key([`${packages}/transformers/activations.py`, "forward"]),
      "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu",
    );
  });

  it("of vLLM's cache is raised, not lowered; the engine's own process comes before who waited for it", () => {
    const log = [
      worker("EngineCore_DP0 pid=8", "ERROR 10-25 13:08:43 [core.py:708] EngineCore failed to start."),
      worker(
        "EngineCore_DP0 pid=8",
        traceback(
          [frame(`${packages}/vllm/v1/core/kv_cache_utils.py`, 699, "check_enough_kv_cache_memory")],
          "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
        )
          .split("\n")
          .map((line) => `ERROR 10-25 13:08:43 [core.py:708] ${line}`)
          .join("\n"),
      ),
      traceback(
        [
          frame("/home/me/grpo.py", 3, "<module>"),
          frame(`${packages}/trl/trainer/grpo_trainer.py`, 500, "__init__"),
          frame(`${packages}/vllm/v1/engine/utils.py`, 800, "wait_for_engine_startup"),
        ],
        "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
      ),
    ].join("\n");
    const found = rootCause(log);
    assert.deepEqual([found?.key, found?.line], ["vllm_gpu_memory_utilization", 5]);
    assert.match(found?.action ?? "", /^Raise vllm_gpu_memory_utilization/);
  });

  it("of the machine, which Ray says of a worker that it ended", () => {
    const found = rootCause(
      traceback(
        [frame("/home/me/verl/trainer/main_ppo.py", 64, "main")],
        "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\nMemory on the node (IP: 10.0.0.2) was 498GB / 512GB",
      ),
    );
    assert.equal(found?.key, "actor_rollout_ref.actor.fsdp_config.optimizer_offload");
    assert.match(found?.cause ?? "", /^The machine ran out of memory/);
  });
});
