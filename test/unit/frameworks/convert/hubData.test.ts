/** Data of the Hub in other trainers' files: from the Hugging Face cache, or what downloads them. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadFile } from "../../../../server/frameworks/use/asConfig/load.ts";
import { datasets as fixtures, useHubCache } from "../../../support/hubCache.ts";

useHubCache();

const script = (data: string): string => `from datasets import load_dataset, load_from_disk
from trl import GRPOConfig, GRPOTrainer

def right(completions, answer, **kwargs):
    return [float(c == a) for c, a in zip(completions, answer)]

dataset = ${data}
trainer = GRPOTrainer(
    model="Qwen/Qwen2.5-0.5B",
    reward_funcs=[right],
    args=GRPOConfig(num_generations=4, per_device_train_batch_size=4, max_steps=1),
    train_dataset=dataset,
)
`;

function read(name: string, text: string) {
  const folder = mkdtempSync(join(tmpdir(), "gradus-test-"));
  mkdirSync(join(folder, "data"));
  for (const saved of ["saved", "savedDict"])
    cpSync(join(fixtures, saved), join(folder, "data", saved), { recursive: true });
  writeFileSync(join(folder, name), text);
  // Rewards and models are others' matter.
  const { tree, diagnostics } = loadFile(join(folder, name), { set: ["model.base=tiny"] });
  const missing = diagnostics.filter(({ rule }) => rule === "dataset-file");
  const tasks = tree["tasks"] as readonly Readonly<Record<string, unknown>>[];
  return {
    datasets: tasks.map(({ dataset }) => String(dataset).replace(`${folder}/`, "")),
    templates: [tasks[0]?.["prompt"], tasks[0]?.["answer"]],
    missing: missing.map(({ message, range }) => `${range.start.line + 1}: ${message}`),
  };
}

describe("a script of TRL", () => {
  const sums = "hf://datasets/gradus/sums";
  const cases: Readonly<Record<string, readonly string[]>> = {
    'load_dataset("gradus/sums", split="train")': [sums],
    'load_dataset("gradus/sums", "main", split="test")': [`${sums}/main/test`],
    'load_dataset("gradus/sums", name="hard", split="train[:50%]")': [`${sums}/hard`],
    'load_dataset(path="gradus/sums", revision="v1")["train"]': [`${sums}@v1`],
    'load_dataset("gradus/sums", split="train+test")': [sums, `${sums}/test`],
    'load_dataset("gradus/sums", data_files="hard/rows.jsonl", split="train")': [`${sums}/hard/rows.jsonl`],
    'load_from_disk("data/saved")': ["data/saved"],
    'load_from_disk("data/savedDict")["train"]': ["data/savedDict"],
  };
  for (const [data, datasets] of Object.entries(cases))
    it(`has its data: ${data}`, () => {
      const found = read("train.py", script(data));
      assert.deepEqual(found.missing, []);
      assert.deepEqual(found.datasets, datasets);
      assert.deepEqual(found.templates, ["{prompt}", "{answer}"]);
    });
  it("is told, at its line, what to download", () => {
    const [missing] = read("train.py", script('load_dataset("openai/gsm8k", "main", split="train")')).missing;
    assert.match(
      missing ?? "",
      /^12: The dataset `openai\/gsm8k` is not in the Hugging Face cache .*`hf download openai\/gsm8k --repo-type dataset`/,
    );
  });
});

describe("a configuration", () => {
  it("of TRL has the Hub's data", () => {
    const text = [
      "model_name_or_path: Qwen/Qwen2.5-0.5B",
      "dataset_name: gradus/sums",
      "dataset_config: main",
      "dataset_train_split: test",
      "num_generations: 4",
      "per_device_train_batch_size: 4",
      "max_steps: 1",
      "reward_funcs: [accuracy_reward]",
    ].join("\n");
    assert.deepEqual(read("grpo.yaml", text).datasets, ["hf://datasets/gradus/sums/main/test"]);
  });
  it("of verl has the Hub's data, and its folders", () => {
    const launch = (files: string): string =>
      `python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_files=${files} data.train_batch_size=8 actor_rollout_ref.rollout.n=4 actor_rollout_ref.model.path=Qwen/Qwen2.5-0.5B trainer.total_training_steps=1\n`;
    const hub = "hf://datasets/gradus/sums/main/train-00000-of-00002.parquet";
    assert.deepEqual(read("run.sh", launch(hub)).datasets, [hub]);
    assert.deepEqual(read("run.sh", launch("data/saved")).datasets, ["data/saved"]);
  });
  it("of OpenRLHF has the Hub's data", () => {
    const launch =
      "python3 -m openrlhf.cli.train_ppo_ray --actor.model_name_or_path m --data.prompt_dataset gradus/sums --data.prompt_split test --data.input_key question --data.label_key answer --reward.remote_url ./r.py --data.max_samples 8\n";
    assert.deepEqual(read("run.sh", launch).datasets, ["hf://datasets/gradus/sums/test"]);
  });
});
