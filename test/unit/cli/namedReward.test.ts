/** A file of rewards that is named alone: the command says what trains with it, and what to run. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { gradus } from "../../support/cli.ts";
import { notebook } from "../../support/notebooks.ts";
import { temporary } from "../support.ts";

const reward =
  "def compute_score(data_source, solution_str, ground_truth, extra_info=None):\n    return 0.0\n";
const launch = (path: string): string =>
  `python3 -m verl.trainer.main_ppo data.train_files=a.parquet actor_rollout_ref.rollout.n=4 reward.custom_reward_function.path=${path}\n`;
const script =
  "from trl import GRPOConfig, GRPOTrainer\nfrom rewards.gsm import compute_score\nGRPOTrainer(model='m', reward_funcs=[compute_score], args=GRPOConfig(output_dir='o'), train_dataset='a.jsonl').train()\n";
const own =
  'tasks: [{ dataset: a.jsonl, prompt: "{prompt}", answer: "{answer}" }]\nreward: { terms: { right: "./rewards/gsm.py" } }\n';

/** A repository with `rewards/gsm.py`, and other files. */
function project(files: Readonly<Record<string, string>>): string {
  const folder = temporary();
  for (const [name, text] of Object.entries({ ".git/HEAD": "", "rewards/gsm.py": reward, ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const told = (command: string, name: string): string =>
  command === "reward"
    ? `Name ${name}, which names it: \`gradus reward ${name} --gold --probe\` tries its reward.`
    : `not checked: ${name} names it: \`gradus validate ${name}\` checks both, \`gradus reward ${name} --gold --probe\` tries the reward.`;

describe("a lone reward", () => {
  for (const [what, name, text] of [
    ["a launch", "run.sh", launch("rewards/gsm.py")],
    ["a launch below", "scripts/run.sh", launch("rewards/gsm.py")],
    ["a launch with a variable", "run.sh", launch("$REPO/rewards/gsm.py")],
    ["a script that imports it", "train.py", script],
    ["a notebook that imports it", "nb.ipynb", notebook(script.trim().split("\n"))],
    ["a config", "mine.gradus.yaml", own],
  ] as const)
    it(`is of ${what}`, async () => {
      const folder = project({
        [name]: text,
        "cut.ipynb": '{"cells": ["gsm GRPOConfig',
        "other.sh": launch("gsm2.py"),
      });
      for (const command of ["validate", "check", "reward"]) {
        const { code, stderr } = await gradus([command, "rewards/gsm.py"], folder);
        assert.equal(code, command === "reward" ? 1 : 2);
        assert.ok(stderr.includes(told(command, name)), stderr);
      }
      const gold = await gradus(["reward", "rewards/gsm.py", "--gold"], folder);
      assert.ok(gold.stderr.includes(told("reward", name)), gold.stderr);
    });

  it("that nothing names says what to write; what is no reward is what it was", async () => {
    const folder = project({ "tool.py": "def main(argv):\n    return argv\n" });
    const lone = await gradus(["validate", "rewards/gsm.py", "--json"], folder);
    assert.match(
      lone.stdout,
      /"reason":"no launch, notebook or config near it names this reward: name it in one, /,
    );
    const { stderr } = await gradus(["validate", "tool.py"], folder);
    assert.match(stderr, /^tool\.py: not checked: it is neither a Gradus config nor/);
  });

  it("that several name is tried with the nearest", async () => {
    const folder = project({
      "rewards/run.sh": launch("gsm.py"),
      "run.sh": launch("rewards/gsm.py"),
    });
    const { stderr } = await gradus(["validate", "rewards/gsm.py"], folder);
    assert.match(stderr, /rewards\/run\.sh, run\.sh name it: `gradus validate rewards\/run\.sh` checks both/);
  });
});
