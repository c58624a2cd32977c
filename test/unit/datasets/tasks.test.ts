/** Tasks of every form of data, and what a config's checks say of them. */
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { modelFacts } from "../../../server/analysis/modelFacts.ts";
import { dataset } from "../../../server/methods/tasks/dataset.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import type { ListedTask } from "../../../server/core/slots/tasks.ts";
import { made, temporary } from "../support.ts";
import { datasets as fixtures, useHubCache } from "../../support/hubCache.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

useHubCache();

const tasksOf = (name: string, more: object = {}): readonly ListedTask[] =>
  made(
    dataset,
    { dataset: name, prompt: "{question}", answer: "{answer}", ...more },
    { folder: fixtures },
  ).listed?.() ?? [];

const jsonl = (...rows: readonly object[]): string => {
  const file = join(temporary(), "rows.jsonl");
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return file;
};

describe("tasks", () => {
  const prompts = ["1 + 2", "5 + 4", "2 + 2", "9 + 9", "7 + 1"].map((sum) => `What is ${sum}?`);
  for (const name of [
    "saved",
    "savedDict",
    "hf://datasets/gradus/sums",
    "hf://datasets/gradus/sums/main/train-*",
  ])
    it(`are the rows of ${name}`, () => {
      const tasks = tasksOf(name);
      assert.deepEqual(
        tasks.map(({ task }) => task.prompt),
        prompts,
      );
      assert.equal(tasks[1]?.task.answer, "9");
    });
  it("have the same ids in every form", () => {
    const ids = (name: string): string[] => tasksOf(name).map(({ task }) => task.id);
    assert.deepEqual(ids("saved"), ids("hf://datasets/gradus/sums"));
  });
  it("know their file, and their row in it", () => {
    assert.deepEqual(
      tasksOf("saved").map(({ file, row }) => `${relativePath(fixtures, file)} ${row}`),
      [
        ...[1, 2, 3].map((row) => `saved/data-00000-of-00002.arrow ${row}`),
        ...[1, 2].map((row) => `saved/data-00001-of-00002.arrow ${row}`),
      ],
    );
  });
});

describe("rows in the format of the Responses API", () => {
  const prompt = (row: object): string | undefined =>
    tasksOf(jsonl({ ...row, answer: "4" }), { prompt: "{prompt}" })[0]?.task.prompt;
  const parts = [
    { type: "input_text", text: "What is " },
    { type: "input_text", text: "2 + 2?" },
  ];

  it("are prompts: a text, messages, items", () => {
    const asked = "Answer with a number.\n\nWhat is 2 + 2?";
    const instructions = "Answer with a number.";
    const input = "What is 2 + 2?";
    assert.equal(prompt({ instructions, input }), asked);
    assert.equal(
      prompt({
        input: [
          { role: "system", content: instructions },
          { role: "user", content: input },
        ],
      }),
      asked,
    );
    assert.equal(prompt({ instructions, input: [{ type: "message", role: "user", content: parts }] }), asked);
  });
  it("hold calls of functions and what they gave", () => {
    const input = [
      { role: "user", content: "What is 2 + 2?" },
      { type: "reasoning", summary: [] },
      { type: "function_call", call_id: "a", name: "add", arguments: '{"a":2,"b":2}' },
      { type: "function_call_output", call_id: "a", output: "4" },
    ];
    assert.equal(prompt({ input }), 'What is 2 + 2?\n\nadd({"a":2,"b":2})\n\n4');
  });
  it("of NeMo-Gym keep their other columns", () => {
    const row = {
      responses_create_params: { input: [{ role: "user", content: "What is 2 + 2?" }], tools: [] },
      expected_answer: "4",
    };
    const [one] = tasksOf(jsonl(row), { prompt: "{prompt}", answer: "{expected_answer}" });
    assert.equal(one?.task.prompt, "What is 2 + 2?");
    assert.equal(one.task.answer, "4");
    assert.deepEqual(one.task.data["responses_create_params"], row.responses_create_params);
  });
  it("are no rows that have a prompt, or a column `input` of another kind", () => {
    assert.equal(prompt({ prompt: "Own", input: [{ role: "user", content: "Other" }] }), "Own");
    assert.throws(() => prompt({ instruction: "Add.", input: "2 2" }), /no field "prompt"/);
    assert.throws(
      () => prompt({ input: [{ role: "user", content: [{ type: "input_image" }] }] }),
      /no field "prompt"/,
    );
  });
});

describe("a config's checks", () => {
  const check = (task: string, folder = temporary()) =>
    loadConfig(join(folder, "test.gradus.yaml"), {
      text: `steps: 1\nmodel: { base: tiny }\ntasks:\n  - ${task}\nreward: { terms: { correct: { use: exact_match } } }\n`,
      models: modelFacts,
    });
  const said = (task: string, rule: string, folder?: string): string =>
    check(task, folder)
      .diagnostics.filter((one) => one.rule === rule)
      .map(({ message }) => message)
      .join("\n");
  const hub = (path: string, more = ""): string =>
    `{ dataset: "hf://datasets/gradus/sums${path}", prompt: "{question}", answer: "{answer}"${more} }`;

  it("keep a name of the Hub as it is, and call the task by its end", () => {
    const { config, diagnostics } = check(hub("/main/test"));
    assert.deepEqual(
      diagnostics.filter(({ severity }) => severity === "error"),
      [],
    );
    assert.equal(config?.top.tasks[0]?.name, "test");
    assert.equal(config.top.tasks[0].source.params["dataset"], "hf://datasets/gradus/sums/main/test");
  });
  it("say what to download", () => {
    assert.match(
      said(hub("@v9"), "dataset-file"),
      /not its revision `v9`: it has `main`, `v1`\. .*`hf download gradus\/sums --repo-type dataset --revision v9`\.$/,
    );
    assert.match(
      said('{ dataset: openai/gsm8k, answer: "{answer}" }', "dataset-file"),
      /write `hf:\/\/datasets\/openai\/gsm8k`/,
    );
  });
  it("know the columns of Parquet and Arrow", () => {
    const saved = (field: string): string =>
      said(
        `{ dataset: ${join(fixtures, "saved")}, prompt: "{${field}}", answer: "{answer}" }`,
        "dataset-field",
      );
    assert.match(
      said(hub("").replace("{question}", "{questoin}"), "dataset-field"),
      /no column `questoin`. Did you mean `question`/,
    );
    assert.match(saved("questoin"), /`data-00000-of-00002\.arrow` has no column `questoin`/);
    assert.equal(saved("meta.source"), "");
  });
  it("find repeated prompts, leaks and long prompts over all files", () => {
    const folder = temporary();
    mkdirSync(join(folder, "data"));
    const file = (name: string): string => join(folder, "data", name);
    copyFileSync(join(fixtures, "saved", "data-00000-of-00002.arrow"), file("train-a.arrow"));
    const rows = [1, 2, 3, 4, 5, 6, 7, 8].map((a) => ({
      question: `what is ${a} + ${a}`,
      answer: String(a),
    }));
    writeFileSync(file("train-b.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const task = '{ dataset: data, prompt: "{question}", answer: "{answer}", max_prompt: 13 }';
    assert.match(
      said(task, "repeated-prompt", folder),
      /1 of 11 prompts repeat an earlier one with another answer \(row 3 of `train-a\.arrow` and row 2 of `train-b\.jsonl`\)/,
    );
    assert.match(
      said(task, "prompt-length", folder),
      /27.*\(3 of 11\) exceed `max_prompt: 13`.*the longest has 14 tokens/,
    );
  });
});
