/** What a prompt shows, filled with the reference answer, against each term. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { AnswerScorer } from "../../../../server/analysis/rewardChecks/answers.ts";
import { checkGold, type GoldReport } from "../../../../server/analysis/rewardChecks/gold.ts";
import { bestText, formatMessage } from "../../../../server/analysis/rewardChecks/sentences.ts";
import { shownFormat, written } from "../../../../server/analysis/rewardChecks/format/shownFormat.ts";
import { loadConfig } from "../../../../server/rules/load.ts";
import { notebook } from "../../../support/notebooks.ts";
import { temporary } from "../../support.ts";

const filled = (prompt: string): string | undefined => {
  const format = shownFormat(prompt);
  return format && written(format, "60", "W");
};

describe("the format that a prompt shows", () => {
  for (const [name, prompt, form] of [
    [
      "tags on lines of their own",
      "Answer so:\n<reasoning>\n...\n</reasoning>\n<answer>\n...\n</answer>\n",
      "<reasoning>\nW\n</reasoning>\n<answer>\n60\n</answer>",
    ],
    [
      "tags in a line",
      "i.e., <think> reasoning process here </think><answer> answer here </answer>. User: 5 * 12",
      "<think> W </think><answer> 60 </answer>",
    ],
    [
      "named places",
      "<think>{reasoning}</think>\n<answer>[your answer]</answer>",
      "<think>W</think>\n<answer>60</answer>",
    ],
    [
      "a place in brackets",
      "<reasoning>(reasoning here)</reasoning><answer>…</answer>",
      "<reasoning>W</reasoning><answer>60</answer>",
    ],
    [
      "a box in a tag",
      "<think>...</think><answer>\\boxed{...}</answer>",
      "<think>W</think><answer>\\boxed{60}</answer>",
    ],
    [
      "work in a tag, and a box",
      "<think>\n...\n</think>\nthen \\boxed{answer}",
      "<think>\nW\n</think>\n\\boxed{60}",
    ],
    ["a box", "Put your final answer in \\boxed{}.", "\\boxed{60}"],
    ["a box after work", "Reason step by step. Put your final answer in \\boxed{}.", "W\n\\boxed{60}"],
    ["hashes", 'Output the final answer after "####".', "#### 60"],
    ["brackets", "Give your verdict as [[N]].", "[[60]]"],
    ["a label", "End with 'Answer: $LETTER'. Think step by step.", "W\nAnswer: 60"],
    ["JSON", 'Reply with {"reasoning": "...", "answer": <number>}', '{"reasoning": "W", "answer": 60}'],
    [
      "a worked example",
      "<reasoning>\n2 and 3 is 5\n</reasoning>\n<answer>\n5\n</answer>\n\nWhat is 3+3?",
      "<reasoning>\n2 and 3 is 5\n</reasoning>\n<answer>\n60\n</answer>",
    ],
    ["tags that are spoken of", "Use <think> </think> and <answer> </answer> tags.", undefined],
    ["a heading, and HTML", "# Title\n\n#### Why?\n\nWhat is <div>...</div>?", undefined],
    ["a plain question", "What is 5 * 12?", undefined],
  ] as const)
    it(name, () => assert.equal(filled(prompt), form));
});

const tags = "Answer so:\n<reasoning>\n...\n</reasoning>\n<answer>\n...\n</answer>\n\n";

/** @param body of `score`, which has `response` and `answer` */
const goldOf = (prompt: string, body: string): Promise<GoldReport> =>
  reportOf(
    prompt,
    "./score.ts",
    `type Given = { response: string; task: { answer: string } };\nexport function score({ response, task: { answer } }: Given): number {\n${body}\n}\n`,
  );

/** @param use the reward's file, and its function where it is Python */
async function reportOf(prompt: string, use: string, source: string): Promise<GoldReport> {
  const folder = temporary();
  const rows = Array.from({ length: 8 }, (_, i) =>
    JSON.stringify({ question: `${prompt}What is ${i + 3} * 12?`, answer: String((i + 3) * 12) }),
  );
  writeFileSync(join(folder, "rows.jsonl"), `${rows.join("\n")}\n`);
  writeFileSync(join(folder, use.split(":")[0]!), source);
  const file = join(folder, "sums.gradus.yaml");
  writeFileSync(
    file,
    `tasks: [{ dataset: rows.jsonl, prompt: "{question}", answer: "{answer}" }]\nreward: { terms: { score: "${use}" } }\n`,
  );
  const { config, diagnostics } = loadConfig(file);
  assert.ok(config, diagnostics.map(({ message }) => message).join("\n"));
  const scorer = new AnswerScorer(config);
  try {
    await scorer.prepare();
    const report = await checkGold(config, scorer);
    assert.ok(report);
    return report;
  } finally {
    await scorer.close();
  }
}

const said = ({ format }: GoldReport): string[] => format.map((one) => formatMessage(one));
const shows = "the format that your prompt shows";

describe("a term and the format", () => {
  it("says with which change it pays", async () => {
    const report = await goldOf(
      tags,
      "  return /<reasoning>.*<\\/reasoning>\\s*<answer>.*<\\/answer>/.test(response) ? 0.5 : 0;",
    );
    assert.deepEqual(said(report), [`${shows} earns 0 of 0.5: without line breaks, it earns 0.5`]);
    assert.equal(
      bestText(report),
      "no form succeeds; the best was in the format that the prompt shows, without line breaks, with 0.5",
    );
  });

  it("writes answers between tags that a prompt only names, and holds no term against them", async () => {
    const report = await goldOf(
      "Work between <start> and <end>. Then give the solution between <SOLUTION></SOLUTION>. ",
      "  const [, found] = /<end>[^]*?<SOLUTION>(.+?)<\\/SOLUTION>\\s*$/.exec(response) ?? [];\n  return found === answer ? 1 : 0;",
    );
    assert.deepEqual(
      [report.form, report.passed, report.format],
      ["between the tags that the prompt names", 8, []],
    );
  });

  it("tells work of several lines from one", async () => {
    const score = "  return /^<think>.*<\\/think><answer>.*<\\/answer>$/.test(response) ? 1 : 0;";
    assert.deepEqual(said(await goldOf("As <think>...</think><answer>...</answer>: ", score)), [
      `${shows}, with two lines of work, earns 0 of 1: with one line of work, it earns 1`,
    ]);
  });

  it("names what is wrong with a pattern of Python, at its line", async () => {
    const report = await reportOf(
      tags,
      "./score.py:score",
      [
        "import re",
        'SHAPE = re.compile(r"^<reasoning>.*</reasoning>\\n<answer>.*</answer>\\n$")',
        "def score(completions, **kwargs):",
        "    return [0.5 if SHAPE.match(one) else 0.0 for one in completions]",
        "",
      ].join("\n"),
    );
    assert.deepEqual(said(report), [
      `${shows} earns 0 of 0.5: "." does not match a newline (re.DOTALL); it asks for a newline after the end of the format, where completions stop`,
    ]);
    assert.equal(report.format[0]?.place?.line, 1);
  });

  it("names it at its cell, where the function is a notebook's", async () => {
    const report = await reportOf(
      tags,
      "./score.ipynb:score",
      notebook([
        "#md # Rewards",
        "!pip install trl\nimport re",
        'SHAPE = re.compile(r"^<reasoning>.*</reasoning>\\s*<answer>.*</answer>$")\ndef score(completions, **kwargs):\n    return [0.5 if SHAPE.match(one) else 0.0 for one in completions]',
      ]),
    );
    assert.deepEqual(said(report), [`${shows} earns 0 of 0.5: "." does not match a newline (re.DOTALL)`]);
    const { cell, line } = report.format[0]?.place ?? {};
    assert.deepEqual([cell, line], [3, 0]);
  });

  it("says which form it pays instead", async () => {
    const score = "  return response.includes(`\\\\boxed{${answer}}`) ? 1 : 0;";
    assert.deepEqual(said(await goldOf(tags, score)), [
      `${shows} earns 0 of 1: written in \`\\boxed{}\`, it earns 1`,
    ]);
  });

  for (const [name, score] of [
    [
      "takes it",
      "  return /<reasoning>[^]*<\\/reasoning>\\s*<answer>\\s*(.*?)\\s*<\\/answer>/.exec(response)?.[1] === answer ? 1 : 0;",
    ],
    ["takes the last number", "  return response.match(/\\d+/g)?.at(-1) === answer ? 1 : 0;"],
    ["pays brevity", "  return Math.max(0, 1 - response.length / 64);"],
    ["pays length", "  return Math.min(1, response.length / 1000);"],
    ["pays nothing", "  return response === '' || answer === '' ? 1 : 0;"],
  ] as const)
    it(`is silent of a term that ${name}`, async () => assert.deepEqual(said(await goldOf(tags, score)), []));

  it("is silent where no format is shown", async () => {
    const report = await goldOf("", "  return response === `#### ${answer}` ? 1 : 0;");
    assert.deepEqual([said(report), report.form, report.passed], [[], "after `####`", 8]);
  });
});
