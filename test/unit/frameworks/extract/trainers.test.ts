/** What the tables of declared keys say, against facts of the trainers' sources. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { PackageName } from "../../../../server/frameworks/releases/extract/index.ts";
import { packages } from "../../../../server/frameworks/releases/extract/packages.ts";
import {
  installedTable,
  keyTable,
  tableOf,
  type KeyTable,
} from "../../../../server/frameworks/releases/load.ts";

const newest = (name: PackageName, tree: string): KeyTable =>
  keyTable(name, tableOf(name).versions.at(-1) ?? "", tree);

describe("tables of declared keys", () => {
  it("have every tree that a specification names", () => {
    for (const [name, { trees }] of Object.entries(packages) as [keyof typeof packages, { trees: object }][])
      assert.deepEqual([...tableOf(name).trees].toSorted(), Object.keys(trees).toSorted(), name);
  });

  it("know a key of each trainer with its default", () => {
    const known: readonly (readonly [PackageName, string, string, unknown])[] = [
      ["ms-swift", "rlhf", "rlhf_type", "dpo"],
      ["ms-swift", "megatron rlhf", "global_batch_size", 16],
      ["slime", "train", "n-samples-per-prompt", 1],
      ["miles", "train", "rollout-batch-size", undefined],
      ["easyr1", "ppo", "worker.rollout.n", 1],
      ["nemo-rl", "grpo", "grpo.num_prompts_per_step", undefined],
      ["roll", "rlvr", "rollout_batch_size", 128],
      ["open-instruct", "grpo_fast", "exp_name", "grpo"],
      ["prime-rl", "rl", "orchestrator.group_size", 1],
      ["axolotl", "train", "trl.num_generations", null],
      ["llama-factory", "train", "finetuning_type", "lora"],
      ["areal", "grpo", "actor.eps_clip", 0.2],
    ];
    for (const [name, tree, key, expected] of known) {
      const table = newest(name, tree);
      assert.ok(table.has(key), `${name} ${key}`);
      if (expected !== undefined) assert.equal(table.get(key)?.default, expected, `${name} ${key}`);
    }
  });

  it("stand upon those of what a program builds on", () => {
    const slime = newest("slime", "train");
    assert.equal(slime.get("tensor-model-parallel-size")?.default, 1);
    assert.equal(slime.get("lr")?.default, 1e-6, "slime's own default wins");
    assert.ok(slime.has("sglang-mem-fraction-static"));
    assert.ok(slime.has("router-policy"));
    assert.ok(!slime.has("sglang-model-path"), "slime sets it");
    const swift = newest("ms-swift", "rlhf");
    assert.ok(swift.has("per_device_train_batch_size") && swift.has("predict_with_generate"));
    assert.ok(!newest("ms-swift", "megatron rlhf").has("per_device_train_batch_size"));
    assert.ok(!keyTable("transformers", "5.23.0").has("predict_with_generate"), "TRL does not take it");
  });

  it("say where other keys are taken", () => {
    const nemo = newest("nemo-rl", "grpo");
    assert.equal(nemo.get("")?.open, true);
    assert.ok(!nemo.keys.includes(""));
    assert.equal(nemo.get("policy.megatron_cfg")?.open, true);
    assert.ok(nemo.has("policy.megatron_cfg.tensor_model_parallel_size"));
    assert.ok(nemo.sections.has("policy.generation.vllm_cfg"));
    assert.equal(newest("prime-rl", "rl").get("")?.open, undefined);
  });

  it("are read from a checkout of a trainer as well", () => {
    const folder = mkdtempSync(join(tmpdir(), "gradus-checkout-"));
    const at = join(folder, "src/llamafactory/hparams");
    mkdirSync(at, { recursive: true });
    writeFileSync(join(at, "__init__.py"), "from .model_args import ModelArguments\n");
    writeFileSync(join(at, "model_args.py"), "@dataclass\nclass ModelArguments:\n    brand_new: int = 3\n");
    const table = installedTable("llama-factory", folder, "9.9.9", "train");
    assert.equal(table?.get("brand_new")?.default, 3);
    assert.ok(table.has("learning_rate"), "of Transformers, from its table");
    assert.equal(installedTable("easyr1", folder, "9.9.9", "ppo"), undefined);
    rmSync(folder, { recursive: true, force: true });
  });
});
