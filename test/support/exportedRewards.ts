/** Answers of every kind, and terms that score them, for the rewards of exports. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Answer } from "../../server/analysis/rewardChecks/answers.ts";
import { configOf, temporary } from "../unit/support.ts";

/** Answers of every kind, with the tasks that they are for. */
const asked = [
  {
    data: { answer: "12" },
    responses: ["12", " 12\n", "it is 12.", "1,2", "13", "", "−12", "the answer: 1.2e1"],
  },
  { data: { answer: "T" }, responses: ["T", "I say F, no: T", "t", "F", "no verdict"] },
  {
    data: { answer: "x", numbers: [3, 5, 7], target: 22 },
    responses: [
      ...[
        "3*5+7",
        "(3*5)+7=22",
        "3*5+7=23",
        "7+5*3",
        "3×5+7",
        "3*5",
        "22",
        "3*5+7=",
        "3 5*7",
        "(3*5+7",
        "7/0+3-5",
      ],
      ...["<answer>3*5+7</answer>", "first\n3*5+7", "3*5+7\n"],
    ],
  },
  {
    data: { answer: "y" },
    responses: [
      "<think>a</think><answer>y</answer>",
      "<answer>y</answer><think>a</think>",
      "<think>a</think><think>b</think><answer>y</answer>",
      "<think>\n</think>\n<answer>y</answer>\n",
    ],
  },
];

export const answers = (source: string): Answer[] =>
  asked.flatMap(({ data, responses }, at) =>
    responses.map((response) => ({
      task: {
        ...{ id: `${at}`, source, env: "dataset", prompt: `question ${at}: ` },
        answer: data.answer,
        data: { question: `question ${at}: `, ...data },
      },
      response,
    })),
  );

export const terms: Readonly<Record<string, string>> = {
  exact: "exact_match",
  exact_bare: "{ use: exact_match, strip: false, ignore_case: true }",
  number: "numeric",
  near: "{ use: numeric, tolerance: 0.1 }",
  verdict: "verdict",
  verdict_any: '{ use: verdict, pattern: "(?<said>[tTfF])$", ignore_case: true }',
  tags: "{ use: format, tags: [think, answer] }",
  pattern: '{ use: format, pattern: "<think>.*</think>\\\\s*<answer>.*</answer>", present: 2, absent: -1 }',
  linear: "{ use: length, limit: 20 }",
  limit: "{ use: length, shape: limit, limit: 8 }",
  overlong: "{ use: length, shape: soft_overlong, limit: 20, cache: 12 }",
  inverse: "{ use: length, shape: inverse }",
  relative: "{ use: length, shape: group_relative }",
  equation: "equation",
  equation_line: "{ use: equation, extract: last_line, partial: 0.1 }",
  equation_tag: "{ use: equation, extract: answer_tag }",
  own: "{ use: ./rewards/own.py:gradus, args: { factor: 2 } }",
  own_trl: "./rewards/own.py:trl",
  own_verl: "./rewards/own.py:compute_score",
  own_batch: "./rewards/own.py:verl_batch",
  own_openrlhf: "./rewards/own.py:openrlhf",
  own_gym: "./rewards/own.py:score_answer",
  script: "./rewards/script.ts",
};

const own = `
from helper import right

def gradus(response, task, args, factor):
    return {"score": factor * right(response, task["answer"]), "seen": 1}

def trl(completions, answer, question, **kwargs):
    return [None if one == "" else right(one, wanted) + len(asked) for one, wanted, asked in zip(completions, answer, question)]

async def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    if solution_str == "F":
        raise ValueError("no such verdict")
    return right(solution_str, ground_truth) + len(data_source)

def verl_batch(data_sources, solution_strs, ground_truths, extra_infos):
    return [{"score": right(one, wanted)} for one, wanted in zip(solution_strs, ground_truths)]

def openrlhf(queries, prompts, labels):
    return {"rewards": [right(query[len(prompt):], label) for query, prompt, label in zip(queries, prompts, labels)]}

def prompted(prompt, response):
    return len(prompt) + len(response)

def score_answer(answer, entry):
    return right(answer, entry["answer"])
`;

export function rewardProject(text: string): { folder: string; config: ReturnType<typeof configOf> } {
  const folder = temporary();
  mkdirSync(join(folder, "rewards"));
  writeFileSync(join(folder, "rewards", "own.py"), own);
  writeFileSync(
    join(folder, "rewards", "helper.py"),
    "def right(said, wanted):\n    return 1.0 if said.strip() == wanted else 0.0\n",
  );
  writeFileSync(
    join(folder, "rewards", "script.ts"),
    "export const score = ({ response, task }: { response: string; task: { data: { target?: number } } }): number => response.length + (task.data.target ?? 0);",
  );
  const rows = asked.map(({ data }, at) => JSON.stringify({ question: `question ${at}: `, ...data }));
  writeFileSync(join(folder, "rows.jsonl"), `${rows.join("\n")}\n`);
  return { folder, config: configOf(text, folder) };
}

export const configText = (reward: string): string =>
  `tasks: [{ name: data, dataset: rows.jsonl, prompt: "{question}", answer: "{answer}" }, { env: countdown }]\nreward: ${reward}\nsteps: 1\n`;
