/** Rewards that do not match what their prompt shows, as people have reported them, and the same corrected. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkFrameworkDocument } from "../../../server/frameworks/check/index.ts";
import { edited } from "../../support/frameworkFixture.ts";
import { read } from "./support.ts";

const lines = "Answer so:\\n<reasoning>\\n...\\n</reasoning>\\n<answer>\\n...\\n</answer>";
const inline = "Answer as <think> reasoning process here </think><answer> answer here </answer>.";

const script = (prompt: string, body: string): string => `import re
from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

SYSTEM_PROMPT = "${prompt}"

def shape(completions, **kwargs):
${body.replaceAll(/^/gm, "    ")}

trainer = GRPOTrainer(
    model="a/b",
    reward_funcs=[shape],
    args=GRPOConfig(output_dir="out"),
    train_dataset=load_dataset("json", data_files="rows.jsonl", split="train"),
)
trainer.train()
`;

const heard = (prompt: string, body: string) =>
  checkFrameworkDocument(read("train.py", script(prompt, body))).filter(
    ({ rule }) => rule === "trl-prompt-format",
  );

const matching = (pattern: string, how = "match", flags = ""): string =>
  `pattern = ${pattern}\nreturn [0.5 if re.${how}(pattern, c[0]["content"]${flags}) else 0.0 for c in completions]`;

interface Bug {
  readonly name: string;
  readonly prompt: string;
  readonly bug: string;
  readonly says: RegExp;
  readonly corrected: string;
}

const bugs: readonly Bug[] = [
  {
    name: "tags on lines of their own, without DOTALL",
    prompt: lines,
    bug: matching(String.raw`r"<reasoning>.*?</reasoning>\s*<answer>.*?</answer>"`),
    says: /"\." does not match a newline \(re\.DOTALL\)/,
    corrected: matching(
      String.raw`r"<reasoning>.*?</reasoning>\s*<answer>.*?</answer>"`,
      "match",
      ", re.DOTALL",
    ),
  },
  {
    name: "tags in a line, and work of several lines",
    prompt: inline,
    bug: matching(String.raw`r"^<think>.*?</think>\s*<answer>.*?</answer>$"`),
    says: /once its work has several lines: "\."/,
    corrected: matching(String.raw`r"^<think>[\s\S]*?</think>\s*<answer>[\s\S]*?</answer>$"`),
  },
  {
    name: "a newline after the last tag",
    prompt: lines,
    bug: matching(
      String.raw`r"^<reasoning>\n.*?\n</reasoning>\n<answer>\n.*?\n</answer>\n$"`,
      "match",
      ", flags=re.S",
    ),
    says: /asks for a newline after the end of the format/,
    corrected: matching(
      String.raw`r"^<reasoning>\n.*?\n</reasoning>\n<answer>\n.*?\n</answer>\n?$"`,
      "match",
      ", flags=re.S",
    ),
  },
  {
    name: "newlines that the prompt does not show",
    prompt: inline,
    bug: matching(String.raw`r"<think>\n.*?\n</think>\n<answer>\n.*?\n</answer>"`, "search", ", re.S"),
    says: /asks for a newline where the prompt shows none/,
    corrected: matching(
      String.raw`r"<think>\s*.*?\s*</think>\s*<answer>\s*.*?\s*</answer>"`,
      "search",
      ", re.S",
    ),
  },
  {
    name: "an end-of-turn token",
    prompt: lines,
    bug: matching(String.raw`r"(?s)<reasoning>.*?</reasoning>\s*<answer>.*?</answer><\|im_end\|>"`),
    says: /`<\|im_end\|>`, which decoded completions do not hold/,
    corrected: matching(String.raw`r"(?s)<reasoning>.*?</reasoning>\s*<answer>.*?</answer>"`),
  },
  {
    name: "capitals",
    prompt: lines,
    bug: matching(String.raw`r"<Answer>\s*(.*?)\s*</Answer>"`, "search"),
    says: /other capitals than the prompt shows/,
    corrected: matching(String.raw`r"<Answer>\s*(.*?)\s*</Answer>"`, "search", ", re.I"),
  },
  {
    name: "an answer on a line of its own, taken out without DOTALL",
    prompt: lines,
    bug: 'found = [re.search(r"<answer>(.*?)</answer>", c[0]["content"]) for c in completions]\nreturn [1.0 if one else 0.0 for one in found]',
    says: /does not match a newline/,
    corrected:
      'found = [re.search(r"<answer>\\s*(.*?)\\s*</answer>", c[0]["content"]) for c in completions]\nreturn [1.0 if one else 0.0 for one in found]',
  },
  {
    name: "a box that is looked for at the beginning",
    prompt: "Reason step by step, and put your final answer within \\\\boxed{}.",
    bug: matching(String.raw`r"\\boxed\{(.*?)\}"`),
    says: /no room for text around the answer \(`re\.match` begins there/,
    corrected: matching(String.raw`r"\\boxed\{(.*?)\}"`, "search"),
  },
  {
    name: "a box whose backslash is missing",
    prompt: "Put your final answer within \\\\boxed{}.",
    bug: matching(String.raw`r"\boxed\{(.*?)\}"`, "search"),
    says: /edge of a word/,
    corrected: matching(String.raw`r"\\boxed\{(.*?)\}"`, "search"),
  },
  {
    name: "anchors around a mark",
    prompt: "Think step by step. End with #### {answer}",
    bug: matching(String.raw`r"^#### (\d+|\w+)$"`, "search"),
    says: /no room for text around the answer/,
    corrected: matching(String.raw`r"^#### (\d+|\w+)$"`, "search", ", re.MULTILINE"),
  },
  {
    name: "a pattern that is compiled",
    prompt: lines,
    bug: 'shape_of = re.compile(r"<reasoning>.+</reasoning>")\nreturn [1.0 if shape_of.search(c[0]["content"]) else 0.0 for c in completions]',
    says: /does not match a newline/,
    corrected:
      'shape_of = re.compile(r"<reasoning>.+</reasoning>", re.DOTALL)\nreturn [1.0 if shape_of.search(c[0]["content"]) else 0.0 for c in completions]',
  },
];

describe("a reward that does not match its prompt's format", () => {
  for (const { name, prompt, bug, says, corrected } of bugs)
    it(name, () => {
      const [found, ...others] = heard(prompt, bug);
      assert.match(found?.message ?? "nothing", says);
      assert.equal(found?.severity, "warning");
      assert.deepEqual(others, []);
      assert.deepEqual(
        heard(prompt, corrected).map(({ message }) => message),
        [],
      );
    });

  it("names the prompt, and its fix corrects it", () => {
    const [first] = bugs;
    const text = script(first!.prompt, first!.bug);
    const [found] = heard(first!.prompt, first!.bug);
    assert.equal(
      found?.message,
      '`shape` does not match the format that `SYSTEM_PROMPT` shows: "." does not match a newline (re.DOTALL).',
    );
    const [fix] = found.fixes ?? [];
    const fixed = edited(text, fix?.edits ?? []);
    assert.match(fixed, /r"\(\?s\)<reasoning>/);
  });
});

describe("silence", () => {
  for (const [name, prompt, body] of [
    ["no format is shown", "You are a careful teacher.", bugs[0]!.bug],
    ["tags are only spoken of", "Use <think> </think> and <answer> </answer>.", bugs[1]!.bug],
    [
      "another pattern of the function takes it",
      lines,
      'strict = r"<answer>(.*?)</answer>"\nloose = r"<answer>\\s*(.*?)\\s*</answer>"\nreturn [1.0 if re.search(strict, c[0]["content"]) or re.search(loose, c[0]["content"]) else 0.0 for c in completions]',
    ],
    ["what must not stand behind the answer", lines, matching(String.raw`r"</answer>\s*\S"`, "search")],
    ["flags that are not known", lines, matching('r"<answer>.*?</answer>"', "search", ", FLAGS")],
    ["a pattern made while it runs", lines, matching('f"<answer>.*?</answer>{end}"', "search")],
    [
      "what is taken away",
      lines,
      'return [len(re.sub(r"<reasoning>.*?</reasoning>", "", c)) for c in completions]',
    ],
    ["a pattern of other text", lines, matching(String.raw`r"^\d+$"`)],
  ] as const)
    it(name, () =>
      assert.deepEqual(
        heard(prompt, body).map(({ message }) => message),
        [],
      ),
    );
});
