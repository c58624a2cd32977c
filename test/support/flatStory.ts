/**
 * "Why is my GRPO reward flat?": what a person has who asks. A notebook of TRL whose reward's pattern does not cross lines, a
 * launch of verl whose reward is not the one that trains, the log of a training whose format took over, and a trainer that is not read.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { course, dictOf, steps } from "../unit/store/logs/logs.ts";
import { notebook } from "./notebooks.ts";

const cells: readonly string[] = [
  "#md # GRPO on grade-school mathematics",
  "%%capture\n!pip install trl==1.2.0",
  `import re
from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

SYSTEM_PROMPT = """
Respond in the following format:
<reasoning>
...
</reasoning>
<answer>
...
</answer>
"""

def rows(split):
    data = load_dataset("openai/gsm8k", "main")[split]
    return data.map(lambda row: {
        "prompt": [{"role": "system", "content": SYSTEM_PROMPT}, {"role": "user", "content": row["question"]}],
        "answer": row["answer"].split("####")[1].strip(),
    })`,
  `def soft_format(completions, **kwargs):
    pattern = r"<reasoning>.*?</reasoning>\\s*<answer>.*?</answer>"
    return [0.5 if re.match(pattern, c[0]["content"]) else 0.0 for c in completions]

def correct(completions, answer, **kwargs):
    found = [c[0]["content"].split("<answer>")[-1].split("</answer>")[0].strip() for c in completions]
    return [2.0 if own == wanted else 0.0 for own, wanted in zip(found, answer)]`,
  `args = GRPOConfig(output_dir="out", per_device_train_batch_size=8, num_generations=8, max_steps=250)
GRPOTrainer(
    model="Qwen/Qwen2.5-0.5B-Instruct",
    reward_funcs=[soft_format, correct],
    args=args,
    train_dataset=rows("train"),
).train()`,
];

const launch = `#!/bin/bash
# verl==0.9.1
python3 -m verl.trainer.main_ppo \\
  algorithm.adv_estimator=grpo \\
  data.train_files=$HOME/data/gsm8k/train.parquet \\
  data.val_files=$HOME/data/gsm8k/test.parquet \\
  data.train_batch_size=256 \\
  actor_rollout_ref.model.path=Qwen/Qwen2.5-0.5B-Instruct \\
  actor_rollout_ref.actor.ppo_mini_batch_size=64 \\
  actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=8 \\
  actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=8 \\
  actor_rollout_ref.rollout.name=vllm \\
  actor_rollout_ref.rollout.tensor_model_parallel_size=1 \\
  actor_rollout_ref.rollout.n=8 \\
  custom_reward_function.path=rewards/gsm.py \\
  trainer.n_gpus_per_node=8
`;

const reward = `def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    return 1.0 if solution_str.rsplit("####")[-1].strip() == ground_truth else 0.0
`;

/** 300 steps of TRL, in the lines of a terminal: the format takes over from step 180 to 230. */
function log(): string {
  const courses = {
    loss: course(0, 0, 0, 1, 0.001),
    grad_norm: course(0.3, 0.3, 0, 1, 0.05),
    "rewards/format/mean": course(0.2, 1, 180, 230),
    "rewards/correctness/mean": course(0.4, 0.1, 180, 230),
    reward: course(0.6, 1.1, 180, 230),
    reward_std: course(0.3, 0.3, 0, 1, 0.01),
    epoch: (step: number) => step / 1000,
  };
  const lines = steps(1, 300).map((step) => {
    const held =
      step % 20 === 0
        ? `${dictOf({ eval_reward: course(0.41, 0.12, 180, 230, 0), epoch: courses.epoch }, step)}\n`
        : "";
    return `\r ${step}/300 [10:00<20:00]${dictOf(courses, step)}\n${held}`;
  });
  return lines.join("");
}

export function writeFlatStory(folder: string): void {
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  write("nb.ipynb", notebook(cells));
  write("run.sh", launch);
  write("rewards/gsm.py", reward);
  write("slurm-123.out", log());
  for (const name of ["a", "b", "c", "d"])
    write(`swift/${name}.sh`, "swift rlhf --rlhf_type grpo --model Qwen/Qwen3-1.7B\n");
}
