/** Why trainings failed, by logs of the form that Ray, torch, vLLM, Hydra and the trainers print. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { causes } from "../../../server/analysis/failure/causes.ts";
import { rootCause } from "../../../server/analysis/failure/rootCause.ts";
import { tableOf } from "../../../server/frameworks/releases/load.ts";
import { frame, ofRay, oom, packages, traceback, worker } from "./failedLogs.ts";

describe("sizes that do not divide each other", () => {
  for (const [name, type, message, key, says] of [
    [
      "TRL's groups",
      "ValueError",
      "The global train batch size (7 x 1) must be evenly divisible by the number of generations per prompt (8). Given the current train batch size, the valid values for the number of generations are: [7].",
      "num_generations",
      /whole groups: .*\(7 x 1\)/,
    ],
    [
      "TRL's generation batch",
      "ValueError",
      "generation_batch_size (6) must be divisible by num_generations (4).",
      "num_generations",
      /generation_batch_size \(6\)/,
    ],
    [
      "verl's batch",
      "AssertionError",
      "real_train_batch_size (80) must be divisible by minimal possible batch size (32)",
      "data.train_batch_size",
      /80 is no multiple of 32/,
    ],
    [
      "verl's chunks",
      "AssertionError",
      "only support equal chunk. Got size of DataProto 512 and chunk 6.",
      "data.train_batch_size",
      /512 rows cannot be split into 6/,
    ],
    [
      "verl's engines",
      "AssertionError",
      "rollout world_size: 1 is not divisible by infer_tp: 2",
      "actor_rollout_ref.rollout.tensor_model_parallel_size",
      /1 devices cannot be split into engines of 2/,
    ],
    [
      "attention heads",
      "ValueError",
      "Total number of attention heads (14) must be divisible by tensor parallel size (4).",
      "actor_rollout_ref.rollout.tensor_model_parallel_size",
      /14 attention heads/,
    ],
    [
      "verl's micro-batch",
      "AssertionError",
      "normalized ppo_mini_batch_size 12 should be divisible by ppo_micro_batch_size_per_gpu 8",
      "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu",
      /Mini-batch and micro-batch/,
    ],
    [
      "DeepSpeed's batch",
      "AssertionError",
      "Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu * gradient_acc_step * world_size 256 != 2 * 18 * 7",
      "train.batch_size",
      /256 is not 2 rows × 18/,
    ],
    [
      "any other",
      "AssertionError",
      "batch size 9 must be a multiple of the number of actors 2",
      "data.train_batch_size",
      /do not divide each other/,
    ],
  ] as const)
    it(`name ${name}`, () => {
      const trainer = key.startsWith("num_")
        ? `${packages}/trl/trainer/grpo_trainer.py`
        : key === "train.batch_size"
          ? "/x/openrlhf/cli/train_ppo_ray.py"
          : "/home/me/verl/trainer/ppo/ray_trainer.py";
      const found = rootCause(
        traceback(
          [frame("/home/me/run.py", 3, "<module>"), frame(trainer, 346, "__init__")],
          `${type}: ${message}`,
        ),
      );
      assert.deepEqual([found?.key, found?.where], [key, `${trainer}:346`]);
      assert.match(found?.cause ?? "", says);
    });
});

describe("configs that are refused", () => {
  it("name the key that Hydra does not know, which prints no traceback", () => {
    const found = rootCause(
      "Could not override 'actor_rollout_ref.rollout.gpu_memory_utilisation'.\nTo append to your config use +actor_rollout_ref.rollout.gpu_memory_utilisation=0.6\nKey 'gpu_memory_utilisation' is not in struct\n    full_key: actor_rollout_ref.rollout.gpu_memory_utilisation\n    object_type=dict\n",
    );
    assert.deepEqual(
      [found?.key, found?.where, found?.line],
      ["actor_rollout_ref.rollout.gpu_memory_utilisation", null, 1],
    );
  });
  it("name the key that the code asks for, by its full path", () => {
    const found = rootCause(
      traceback(
        [
          frame("/home/me/verl/trainer/main_ppo.py", 90, "run"),
          frame(`${packages}/omegaconf/base.py`, 231, "_format_and_raise"),
        ],
        "omegaconf.errors.ConfigAttributeError: Key 'use_rm' is not in struct\n    full_key: reward_model.use_rm\n    object_type=dict",
      ),
    );
    assert.deepEqual(
      [found?.key, found?.where],
      ["reward_model.use_rm", "/home/me/verl/trainer/main_ppo.py:90"],
    );
  });
  it("name values that are missing, and arguments of another release", () => {
    assert.equal(
      rootCause(
        traceback(
          [frame("/a/verl/b.py", 1, "c")],
          "omegaconf.errors.MissingMandatoryValue: Missing mandatory value: data.train_files",
        ),
      )?.key,
      "data.train_files",
    );
    assert.equal(
      rootCause(
        traceback(
          [frame("/a/train.py", 1, "<module>")],
          "TypeError: GRPOConfig.__init__() got an unexpected keyword argument 'max_prompt_length'",
        ),
      )?.key,
      "max_prompt_length",
    );
    assert.equal(
      rootCause(
        "usage: train_ppo_ray.py [-h]\ntrain_ppo_ray.py: error: unrecognized arguments: --micro_train_batch_size 4",
      )?.key,
      "micro_train_batch_size",
    );
    assert.equal(
      rootCause(
        traceback(
          [frame("/a/verl/b.py", 1, "c")],
          "omegaconf.errors.InterpolationKeyError: Interpolation key 'trainer.total' not found",
        ),
      )?.key,
      "trainer.total",
    );
  });
});

describe("what else ends trainings", () => {
  it("an index beyond the vocabulary comes before what each rank says of the device", () => {
    const kernel =
      "/pytorch/aten/src/ATen/native/cuda/Indexing.cu:1290: indexSelectLargeIndex: block: [88,0,0], thread: [64,0,0] Assertion `srcIndex < srcSelectDimSize` failed.";
    const found = rootCause(
      `${kernel}\n${kernel}\n${ofRay([frame("/home/me/verl/workers/actor/dp_actor.py", 120, "_forward_micro_batch")], "RuntimeError", "CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronously reported at some other API call.")}`,
    );
    assert.equal(found?.key, "actor_rollout_ref.model.path");
    assert.match(found?.cause ?? "", /token id beyond the model's vocabulary/);
  });
  it("a package that is missing, where it ended the log; a warning about one does not count", () => {
    const missing = traceback(
      [frame("/home/me/train.py", 2, "<module>"), frame(`${packages}/trl/import_utils.py`, 7, "load")],
      "ModuleNotFoundError: No module named 'flash_attn'",
    );
    const found = rootCause(missing);
    assert.deepEqual([found?.cause, found?.key], ["The package flash_attn is not installed.", null]);
    assert.match(found?.action ?? "", /pip install flash-attn\./);
    const later = rootCause(
      `${missing}\nfalling back to sdpa\n${traceback([frame("/home/me/reward.py", 12, "score")], "KeyError: 'answer'")}`,
    );
    assert.deepEqual([later?.cause, later?.where], ["KeyError: 'answer'", "/home/me/reward.py:12"]);
  });
  it("ranks that waited count only where nothing else is there", () => {
    const waited = (rank: number): string =>
      `[rank${rank}]:[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank ${rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1580, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for 600060 milliseconds before timing out.`;
    const alone = rootCause(`/home/me/verl/trainer/main_ppo.py\n${waited(0)}\n${waited(4)}`);
    assert.deepEqual(
      [alone?.key, alone?.cause],
      [
        "actor_rollout_ref.nccl_timeout",
        "Ranks waited 600 s for each other in ALLREDUCE: one of them was slow, or had failed.",
      ],
    );
    const failed = rootCause(
      `${worker("WorkerDict pid=3", traceback([frame("/home/me/verl/utils/reward_score/mine.py", 8, "compute_score")], "ZeroDivisionError: division by zero"))}\n${waited(0)}\n${waited(4)}`,
    );
    assert.deepEqual(
      [failed?.cause, failed?.where],
      ["ZeroDivisionError: division by zero", "/home/me/verl/utils/reward_score/mine.py:8"],
    );
  });
  it("an exception that the table does not have is the first of its chain", () => {
    const log = [
      traceback(
        [frame("/home/me/reward.py", 4, "score")],
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
      ),
      "",
      "The above exception was the direct cause of the following exception:",
      "",
      traceback(
        [
          frame("/home/me/train.py", 20, "<module>"),
          frame(`${packages}/trl/trainer/grpo_trainer.py`, 900, "_calculate_rewards"),
        ],
        "RuntimeError: the reward function failed",
      ),
    ].join("\n");
    assert.deepEqual(
      [rootCause(log)?.cause, rootCause(log)?.where],
      ["json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)", "/home/me/reward.py:4"],
    );
  });
  it("a traceback that begins within a line of an engine's own form is one", () => {
    const log = [
      "[2025-05-20 12:00:00 TP0] Scheduler hit an exception: Traceback (most recent call last):",
      frame(`${packages}/sglang/srt/managers/scheduler.py`, 2005, "run_scheduler_process"),
      "torch.OutOfMemoryError: CUDA out of memory.",
      "2025-05-20T12:00:01.5Z (TaskRunner pid=3) Unhandled error: ray::WorkerDict.x() (pid=3)",
      frame("/home/me/verl/workers/rollout/sglang_rollout.py", 12, "resume").replace(
        /^/gm,
        "2025-05-20T12:00:01.5Z (TaskRunner pid=3) ",
      ),
      "2025-05-20T12:00:01.5Z (TaskRunner pid=3) ray.exceptions.ActorDiedError: The actor died unexpectedly",
    ].join("\n");
    const found = rootCause(log);
    assert.deepEqual([found?.key, found?.line], ["actor_rollout_ref.rollout.gpu_memory_utilization", 4]);
  });
  it("what ended the log comes before what was caught earlier", () => {
    const caught = traceback(
      [frame("/home/me/cache.py", 9, "save")],
      "OSError: [Errno 28] No space left on device",
    );
    const ended = traceback(
      [
        frame("/home/me/run.py", 3, "<module>"),
        frame(`${packages}/trl/trainer/grpo_trainer.py`, 7, "__init__"),
      ],
      "ValueError: generation_batch_size (6) must be divisible by num_generations (4).",
    );
    assert.equal(rootCause(`${caught}\nthe cache is not used\n${ended}`)?.key, "num_generations");
    assert.equal(rootCause(caught)?.key, null);
  });
  it("launchers that say that a rank has failed do not count", () => {
    const own = traceback([frame("/home/me/reward.py", 8, "score")], "ZeroDivisionError: division by zero");
    const launcher = traceback(
      [frame(`${packages}/torch/distributed/launcher/api.py`, 264, "launch_agent")],
      "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: train.py FAILED",
    );
    assert.equal(rootCause(`${own}\n${launcher}`)?.where, "/home/me/reward.py:8");
  });
  it("lines of several workers do not mix", () => {
    const one = worker(
      "WorkerDict pid=1",
      traceback(
        [frame("/a/verl/one.py", 1, "backward"), frame(`${packages}/torch/_tensor.py`, 2, "backward")],
        `torch.OutOfMemoryError: ${oom}`,
      ),
    ).split("\n");
    const two = worker(
      "WorkerDict pid=2",
      traceback([frame("/a/verl/two.py", 3, "step")], "RuntimeError: NCCL communicator was aborted"),
    ).split("\n");
    const found = rootCause(one.flatMap((line, at) => [line, two[at] ?? ""]).join("\n"));
    assert.deepEqual(
      [found?.key, found?.where],
      ["actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "/a/verl/one.py:1"],
    );
  });
  it("a training that goes on has not failed, and neither has a log without a failure", () => {
    const caught = traceback([frame("/home/me/reward.py", 4, "score")], "TimeoutError: sandbox");
    assert.equal(rootCause(`${caught}\n{'loss': 0.1, 'reward': 0.5}\n`), undefined);
    assert.equal(rootCause(`${caught}\n(TaskRunner pid=4) step:12 - critic/score/mean:0.4\n`), undefined);
    assert.equal(rootCause("INFO: all is well\nstep:3 - reward:1\n"), undefined);
    assert.equal(rootCause(""), undefined);
  });
});

it("every key of the table is one of a trainer's, or of Gradus's config", () => {
  const own = new Set(
    readFileSync("test/fixtures/frozen/config.txt", "utf8")
      .split("\n")
      .map((line) => line.split(" ")[0]),
  );
  const of = {
    verl: [tableOf("verl")],
    trl: [tableOf("trl"), tableOf("transformers")],
    openrlhf: [tableOf("openrlhf")],
  };
  for (const { keys } of causes)
    for (const [name, key] of Object.entries(keys))
      assert.ok(
        name === "gradus"
          ? own.has(`.${key}`)
          : of[name as keyof typeof of].some((table) => Object.hasOwn(table.keys, key)),
        `${name} has no ${key}`,
      );
});

it("the cause is found at the end of 200 KB", () => {
  const lines = Array.from(
    { length: 2500 },
    (_, at) =>
      `(TaskRunner pid=7) [2026-11-26 09:00:00,000] INFO step ${at}: some numbers 0.5 0.25 and a longer text for it`,
  );
  const log = `${lines.join("\n")}\n${traceback([frame("/a/verl/b.py", 1, "backward")], `torch.OutOfMemoryError: ${oom}`)}`;
  assert.ok(rootCause(log) !== undefined);
});
