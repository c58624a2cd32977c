import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { test } from "node:test";
import { trainerIn } from "../../../shared/editor/trainers.ts";
import type { TrainerThat } from "../../../shared/run/trainers.ts";
import { longTexts } from "../../support/longTexts.ts";

const cases: readonly (readonly [string, string, TrainerThat<"checked"> | undefined])[] = [
  ["shellscript", "set -x\npython3 -m verl.trainer.main_ppo \\\n  data.train_batch_size=8\n", "verl"],
  ["shellscript", "torchrun --nproc 8 \\\n  -m verl.trainer.fsdp_sft_trainer a=1", "verl"],
  ["shellscript", "python verl/trainer/main_ppo.py", "verl"],
  ["shellscript", "ray job submit -- python3 -m openrlhf.cli.train_ppo_ray --actor.x 1", "openrlhf"],
  ["shellscript", "CUDA_VISIBLE_DEVICES=0 uv run trl grpo --config a.yaml", "trl"],
  ["shellscript", "accelerate launch trl/scripts/dpo.py", "trl"],
  ["shellscript", "# python3 -m verl.trainer.main_ppo\necho no", undefined],
  ["shellscript", "pip install trl verl openrlhf", undefined],
  ["shellscript", "accelerate launch open_instruct/grpo_fast.py --num_generations 8 # trl grpo", undefined],
  ["python", "from trl import GRPOConfig, GRPOTrainer\n", "trl"],
  ["python", "from trl import (\n    SFTTrainer,\n    ModelConfig,\n)\n", "trl"],
  ["python", "import trl\ntrainer = trl.DPOTrainer(model)\n", "trl"],
  ["python", "from verl.trainer.main_ppo import run_ppo", "verl"],
  ["python", "from openrlhf.cli.train_sft import train", "openrlhf"],
  ["python", "# from trl import GRPOTrainer\nimport os\n", undefined],
  ["python", "from control import trl\nfrom trl.extras import profiling\n", undefined],
  ["python", "from verl.utils import hdfs_io", undefined],
  ["yaml", "actor_rollout_ref:\n  rollout: {n: 8}\nalgorithm:\n  adv_estimator: grpo\n", "verl"],
  ["yaml", "# trl grpo --config this.yaml\nlearning_rate: 1e-6\n", "trl"],
  ["yaml", "run: |\n  python3 -m verl.trainer.main_ppo x=1\n", "verl"],
  ["yaml", "grpo:\n  num_generations: 8\npolicy: {model_name: a}\n", undefined],
  ["yaml", "algorithm: ppo\nnum_generations: 4\n", undefined],
  ["json", "trl grpo", undefined],
];

test("a text is recognised by what it starts or imports, never by one key", () => {
  for (const [language, text, expected] of cases) assert.equal(trainerIn(text, language), expected, text);
});

// How long each takes: `npm run bench -- linear`. A pattern that goes back again and again would not end.
test("a text is recognised, whatever it holds and however long it is", () => {
  for (const language of ["python", "shellscript", "yaml"])
    for (const text of longTexts) assert.doesNotThrow(() => trainerIn(text, language));
});

test("what the editor loads first is small", () => {
  const size = statSync("dist/extension.js").size;
  assert.ok(size < 40_000, `${size} bytes`);
  assert.doesNotMatch(readFileSync("dist/extension.js", "utf8"), /vscode-languageclient|vscode-jsonrpc/);
});
