/** The line of the `return` that gave an answer its score, in Python and TypeScript. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, test } from "node:test";
import { AnswerScorer } from "../../../../server/analysis/rewardChecks/answers.ts";
import { checkedTasks } from "../../../../server/analysis/rewardChecks/checkedTasks.ts";
import type { ProbeFinding } from "../../../../server/analysis/rewardChecks/probe.ts";
import { withReturnLines } from "../../../../server/analysis/rewardChecks/returnLines.ts";
import { loadConfig } from "../../../../server/rules/load.ts";
import { withoutPython } from "../../../support/pythonReward.ts";
import { rewardHost } from "../../../support/rewardHost.ts";
import { temporary } from "../../support.ts";

/** "file:line" (from 1) of the `return` for each response, 1 being the function's own. */
async function linesOf(
  reward: string,
  files: Readonly<Record<string, string>>,
  responses: readonly string[],
): Promise<string[]> {
  const folder = temporary();
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  writeFileSync(join(folder, "d.jsonl"), '{"question": "What?", "answer": "4"}\n');
  const file = join(folder, "c.gradus.yaml");
  writeFileSync(
    file,
    `tasks: [{ dataset: d.jsonl, prompt: "{question}", answer: "{answer}" }]\nreward: { terms: { own: { use: ./${reward} } } }\n`,
  );
  const { config, diagnostics } = loadConfig(file);
  assert.ok(config, diagnostics.map(({ message }) => message).join("\n"));
  const scorer = new AnswerScorer(config);
  try {
    const [checked] = checkedTasks(config, scorer.body);
    assert.ok(checked);
    const { id: task } = checked.task;
    const findings = responses.map((response): ProbeFinding => {
      const place = { file: join(folder, reward.split(":")[0] ?? ""), line: 0 };
      const about = { probe: "empty", term: "own", severity: "error", message: "" } as const;
      return { ...about, response, task, tasks: 1, tried: 1, value: 1, place };
    });
    return (await withReturnLines(config, scorer, findings)).map(
      ({ place }) => `${basename(place?.file ?? "")}:${(place?.line ?? -1) + 1}`,
    );
  } finally {
    await scorer.close();
  }
}

const python = `from helper import norm, judge
def length(text):
    return len(text)
def own(text):
    if text == "k":
        return 1.0
    return 0.5
class Reward:
    def __call__(self, solution_str, ground_truth):
        return self.checked(solution_str)
    def checked(self, text):
        return 0.25
def compute_score(solution_str, ground_truth):
    if solution_str == "":
        return 0.1
    if solution_str == "far":
        return judge(solution_str)
    if solution_str == "throws":
        raise ValueError
    if length(solution_str) < 3:
        return own(norm(solution_str))
    return 1.0 if length(solution_str) > 5 else (
        0.0
    )
reward = Reward()
`;

describe("Python", { skip: withoutPython }, () => {
  const helper = {
    "helper.py": "def norm(text):\n    return text.strip()\ndef judge(text):\n    return 1.0\n",
  };
  test("names the return of the function, or of the one in the same file that it hands over to", async () => {
    const answers = ["", "far", "k", " k", "no", "long enough", "long"];
    assert.deepEqual(await linesOf("r.py", { "r.py": python, ...helper }, answers), [
      "r.py:15",
      "r.py:17",
      "r.py:6",
      "r.py:6",
      "r.py:7",
      "r.py:22",
      "r.py:22",
    ]);
    assert.deepEqual(await linesOf("r.py:reward", { "r.py": python, ...helper }, ["a"]), ["r.py:12"]);
  });

  test("keeps the function's line where no return is known", async () => {
    assert.deepEqual(await linesOf("r.py", { "r.py": python, ...helper }, ["throws"]), ["r.py:1"]);
    const trl =
      "def each(text):\n    return 1.0\ndef f(completions, **kw):\n    return [each(c) for c in completions]\n";
    assert.deepEqual(await linesOf("t.py:f", { "t.py": trl }, ["a"]), ["t.py:2"]);
  });
});

test("TypeScript names them alike", async () => {
  await rewardHost();
  const text = `import { judge } from "./far.ts";
const length = (text: string): number => text.length;
async function own(text: string): Promise<number> {
  if (text === "k") return 1;
  return 0.5;
}
export async function score({ response }: { readonly response: string }): Promise<number> {
  if (response === "") return 0.1;
  if (response === "far")
    return judge(response);
  if (response === "throws") throw new Error();
  if (length(response) < 3) return await own(response.trim());
  return length(response) > 5
    ? 1
    : 0;
}
`;
  const far = { "far.ts": "export const judge = (text: string): number =>\n  text.length;\n" };
  assert.deepEqual(
    await linesOf("r.ts", { "r.ts": text, ...far }, ["", "far", "k", "no", "long", "throws"]),
    ["r.ts:8", "r.ts:10", "r.ts:4", "r.ts:5", "r.ts:13", "r.ts:1"],
  );
});
