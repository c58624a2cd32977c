/** A reward that does not load is one finding, of the rule that says why: loading it would say it a second time. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { gradus } from "../../support/cli.ts";
import { temporary } from "../support.ts";

const row = { prompt: "1", label: "2", answer: "3", data_source: "x", reward_model: { ground_truth: "1" } };
const verl =
  "# verl==0.8.0\npython3 -m verl.trainer.main_ppo data.train_files=a.jsonl actor_rollout_ref.rollout.n=4 custom_reward_function.path=r.py\n";
const trl = `from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer
rows = load_dataset("json", data_files="a.jsonl", split="train")
GRPOTrainer(model="m", reward_funcs=[gone], args=GRPOConfig(output_dir="o"), train_dataset=rows).train()
`;
const openrlhf =
  "python3 -m openrlhf.cli.train_ppo_ray --vllm.num_engines 1 --actor.model_name_or_path m --data.prompt_dataset a.jsonl --reward.remote_url r.py\n";
const own =
  'tasks: [{ dataset: a.jsonl, prompt: "{prompt}", answer: "{answer}" }]\nreward: { terms: { right: "./r.py:score" } }\n';

const sumSchema = z.object({
  findings: z.array(
    z.object({ severity: z.string(), by: z.string(), rule: z.string(), message: z.string() }),
  ),
  left: z.array(z.string()),
  rewards: z.array(z.string()),
});

for (const [what, file, text, reward, rule] of [
  ["verl's file is missing", "run.sh", verl, undefined, "verl-reward-function"],
  ["verl's file does not parse", "run.sh", verl, "def compute_score(:\n", "verl-reward-function"],
  ["verl's file has no such function", "run.sh", verl, "def other():\n    pass\n", "verl-reward-function"],
  ["TRL's function is defined nowhere", "train.py", trl, undefined, "trl-reward-definition"],
  ["OpenRLHF's file is missing", "run.sh", openrlhf, undefined, "openrlhf-reward-file"],
  ["OpenRLHF's file does not parse", "run.sh", openrlhf, "def reward_func(:\n", "openrlhf-reward-file"],
  ["a config's file is missing", "a.gradus.yaml", own, undefined, "reward-file"],
] as const)
  test(`${what}: said once`, async () => {
    const folder = temporary();
    writeFileSync(join(folder, "a.jsonl"), `${JSON.stringify(row)}\n`);
    writeFileSync(join(folder, file), text);
    if (reward !== undefined) writeFileSync(join(folder, "r.py"), reward);
    const { stdout } = await gradus(["check", "--run", "--json"], folder);
    const { findings, left, rewards } = sumSchema.parse(JSON.parse(stdout));
    const about = findings.filter(({ message }) => /r\.py|`gone`/.test(message));
    const errors = about.filter(({ severity }) => severity === "error");
    assert.deepEqual(
      errors.map(({ by, rule: one }) => [by, one]),
      [["validate", rule]],
    );
    assert.deepEqual([left, rewards], [[], []]);
  });
