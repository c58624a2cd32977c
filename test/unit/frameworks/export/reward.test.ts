/** reward.py of an export gives what the terms of Gradus give, answer by answer, in the Python that is here. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before, describe, it } from "node:test";
import { promisify } from "node:util";
import {
  AnswerScorer,
  type Answer,
  type ScoredAnswer,
} from "../../../../server/analysis/rewardChecks/answers.ts";
import { serveReward } from "../../../../server/analysis/rewardServer/server.ts";
import { pythonPattern } from "../../../../server/frameworks/export/trl/python.ts";
import { trlPlan } from "../../../../server/frameworks/export/trl/plan.ts";
import { rewardPlan } from "../../../../server/frameworks/export/trl/rewardFile.ts";
import { rewardHost } from "../../../support/rewardHost.ts";
import { configOf, temporary } from "../../support.ts";

before(() => rewardHost());

const run = promisify(execFile);

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

const answers = (source: string): Answer[] =>
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

const terms: Readonly<Record<string, string>> = {
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

/** Recorded by nothing: what TRL would call, with what it hands over. */
const caller = `
import json, sys
sys.path.insert(0, sys.argv[1])
import reward
given = json.load(sys.stdin)
names = [function.__name__ for function in reward.functions]
print(json.dumps({name: function(**given) for name, function in zip(names, reward.functions)}))
`;

function project(text: string): { folder: string; config: ReturnType<typeof configOf> } {
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

const message = (role: string, content: string): object => ({ role, content });

interface Called {
  readonly values: Readonly<Record<string, readonly (number | null)[]>>;
  readonly stderr: string;
}

/** What the functions of reward.py return for the same answers. */
async function inPython(
  config: ReturnType<typeof configOf>,
  folder: string,
  { url = "", chat = false }: { readonly url?: string; readonly chat?: boolean } = {},
): Promise<Called> {
  const { text, copies } = rewardPlan(config, trlPlan(config), false, "0.0.0");
  const out = join(folder, "project");
  mkdirSync(out);
  writeFileSync(join(out, "reward.py"), text);
  copyFileSync("server/cli/hook/gradus_hook.py", join(out, "gradus_hook.py"));
  for (const { from, to } of copies) {
    mkdirSync(dirname(join(out, to)), { recursive: true });
    cpSync(from, join(out, to));
  }
  const all = answers("data");
  const column = (read: (task: Answer["task"]) => unknown): unknown[] =>
    all.map(({ task }) => read(task) ?? null);
  const given = {
    prompts: column(({ prompt }) => (chat ? [message("system", "Think."), message("user", prompt)] : prompt)),
    completions: all.map(({ response }) => (chat ? [message("assistant", response)] : response)),
    completion_ids: all.map(({ response }) => [...response].map(() => 1)),
    ...Object.fromEntries(
      ["question", "answer", "numbers", "target"].map((name) => [name, column(({ data }) => data[name])]),
    ),
    gradus_source: column(({ source }) => source),
  };
  const script = join(folder, "call.py");
  writeFileSync(script, caller);
  const running = run("python3", [script, out], {
    cwd: folder,
    env: { ...process.env, GRADUS_ROLLOUTS: "off", GRADUS_REWARD_URL: url },
  });
  running.child.stdin?.end(JSON.stringify(given));
  const { stdout, stderr } = await running;
  const values: Called["values"] = JSON.parse(stdout);
  return { values, stderr };
}

const configText = (reward: string): string =>
  `tasks: [{ name: data, dataset: rows.jsonl, prompt: "{question}", answer: "{answer}" }, { env: countdown }]\nreward: ${reward}\nsteps: 1\n`;

describe("reward.py", () => {
  it("scores each term as Gradus does", async () => {
    const list = Object.entries(terms).map(([name, term]) => `    ${name}: ${term}`);
    const { folder, config } = project(configText(`\n  terms:\n${list.join("\n")}`));
    const scorer = new AnswerScorer(config);
    await scorer.prepare();
    const server = await serveReward(scorer, { port: 0 });
    let [ours, called]: [ScoredAnswer[], Called | undefined] = [[], undefined];
    try {
      ours = await scorer.score(answers("data"));
      called = await inPython(config, folder, { url: server.url });
    } finally {
      await server.close();
      await scorer.close();
    }
    const { values, stderr } = called;
    for (const name of Object.keys(terms)) {
      assert.deepEqual(
        values[name]?.map((one) => one ?? null),
        ours.map((one) => one.terms[name]),
        name,
      );
      assert.ok(new Set(values[name]).size > 1, `${name} tells no two answers apart`);
    }
    assert.match(stderr, /reward own_verl: ValueError: no such verdict/);
  });

  it("scores messages as the texts that they hold", async () => {
    const reward =
      "{ terms: { exact: exact_match, own: './rewards/own.py:trl', asked: './rewards/own.py:prompted' } }";
    const plain = project(configText(reward));
    const chat = project(configText(reward));
    const { values } = await inPython(plain.config, plain.folder);
    assert.deepEqual((await inPython(chat.config, chat.folder, { chat: true })).values, values);
  });

  it("scores a term for its own tasks alone", async () => {
    const { folder, config } = project(
      configText("{ terms: { right: exact_match, other: { use: equation, tasks: [countdown] } } }"),
    );
    const { values } = await inPython(config, folder);
    assert.deepEqual(new Set(values["other"]), new Set([null]));
    assert.equal(values["right"]?.[0], 1);
  });

  for (const combine of ["product", "max", "{ use: gate, gates: [0.5] }"])
    it(`combines terms by ${combine}`, async () => {
      const { folder, config } = project(
        configText(
          `{ terms: { right: numeric, form: { use: length, limit: 20, weight: 0.5 } }, combine: ${combine} }`,
        ),
      );
      const scorer = new AnswerScorer(config);
      const ours = await scorer.score(answers("data").slice(0, 8));
      await scorer.close();
      const { values } = await inPython(config, folder);
      assert.deepEqual(
        values["reward"]?.slice(0, 8),
        ours.map(({ reward }) => reward),
      );
    });

  it("leaves out a term that reads a model of the run, and says so", () => {
    const { config } = project(
      configText("{ terms: { right: exact_match, likely: { use: reference_probability } } }"),
    );
    const { text, missing, weights } = rewardPlan(config, trlPlan(config), false, "0.0.0");
    assert.doesNotMatch(text, /likely/);
    assert.equal(weights, undefined);
    assert.deepEqual(
      missing.map(({ key, changes }) => [key, changes]),
      [["reward.terms.likely", "algorithm"]],
    );
  });
});

it("writes patterns as Python reads them, or not at all", () => {
  assert.equal(pythonPattern("(?<a>x)\\k<a>$"), "(?P<a>x)(?P=a)\\Z");
  assert.equal(pythonPattern("(?<=a)b(?<!c)\\$"), "(?<=a)b(?<!c)\\$");
  assert.equal(pythonPattern("\\p{L}"), undefined);
});
