/** The answer's column in a conversion of rows that are not on this machine: the one that the script's rows have. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { parse } from "yaml";
import { convert } from "../../../../server/frameworks/trainers/convert.ts";
import { notebook } from "../../../support/notebooks.ts";

function answerOf({ reward, rows }: { readonly reward: string; readonly rows: string }): string {
  const text = `from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

${reward}

data = load_dataset("none/here", split="train")${rows}
GRPOTrainer(model="m", reward_funcs=[right], args=GRPOConfig(output_dir="out"), train_dataset=data).train()
`;
  const { config } = convert("/nowhere/nb.ipynb", notebook([text]));
  return parse(config).tasks[0].answer;
}

const takes = (parameters: string): string =>
  `def right(completions, ${parameters}):\n    return [1.0 for _ in completions]`;

for (const [what, reward, rows, column] of [
  ["a reward takes", takes("answer, **kwargs"), '.map(lambda row: {"answer": row["x"]})', "answer"],
  ["a reward takes by a name of its own", takes("nums, **kwargs"), "", "nums"],
  [
    "a reward takes of its keywords",
    'def right(completions, **kwargs):\n    return [1.0 for _ in kwargs["ground_truth"]]',
    "",
    "ground_truth",
  ],
  [
    "the script gives its rows",
    takes("**kwargs"),
    '.map(lambda row: {"prompt": row["q"], "answer": row["a"]})',
    "answer",
  ],
  ["the script renames", takes("**kwargs"), '.rename_column("a", "ground_truth")', "ground_truth"],
  [
    "the script renames with others",
    takes("**kwargs"),
    '.rename_columns({"q": "prompt", "a": "target"})',
    "target",
  ],
  ["TRL's own reward takes", "from trl.rewards import accuracy_reward as right", "", "solution"],
] as const)
  it(`is the one that ${what}`, () => {
    assert.equal(answerOf({ reward, rows }), `{${column}}`);
  });
