/** What a reward's KeyError advises: the row's columns where the row was asked, and else no more than the line. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FailureCauses } from "../../../../server/analysis/rewardChecks/failures/causes.ts";
import { checkedTasks } from "../../../../server/analysis/rewardChecks/checkedTasks.ts";
import { loadConfig } from "../../../../server/rules/load.ts";
import { notebook } from "../../../support/notebooks.ts";
import { temporary } from "../../support.ts";

const source = `POINTS = {"right": 1.0}
def helper(extra_info):
    return extra_info["text"]
def score(completion, extra_info, **kwargs):
    own = {"a": 1.0}
    if own["text"]:
        return POINTS["text"] + own[completion["text"]]
    if kwargs["text"]:
        return extra_info.get("more", {})["text"]
    return extra_info["more"].pop('text')
`;

/** @param place as the reward's process says it: `score.py:7` */
function adviceAt(place: string, file: string, text: string): string {
  const folder = temporary();
  writeFileSync(join(folder, "rows.jsonl"), '{ "question": "1 + 1?", "answer": "2" }\n');
  writeFileSync(join(folder, file), text);
  const path = join(folder, "sums.gradus.yaml");
  const tasks = '[{ dataset: rows.jsonl, prompt: "{question}", answer: "{answer}" }]';
  writeFileSync(path, `tasks: ${tasks}\nreward: { terms: { right: "./${file}:score" } }\n`);
  const { config, diagnostics } = loadConfig(path);
  assert.ok(config, diagnostics.map(({ message }) => message).join("\n"));
  const causes = new FailureCauses(config.top.reward.terms);
  const [checked] = checkedTasks(config, config.top);
  assert.ok(checked);
  const said = `${join(folder, file)}:score: threw KeyError: 'text' (${place})`;
  causes.add([{ task: checked.task, terms: { right: null }, errors: { right: said } }]);
  const [cause] = causes.fresh();
  return `${cause?.place?.cell ?? ""}:${(cause?.place?.line ?? 0) + 1} ${cause?.action}`;
}

const columns = /The row has question, answer: read one of these, or name the column `text`\.$/;
const line = /Fix that line, then check again\.$/;

for (const [what, at, advice] of [
  ["a helper's parameter", 3, line],
  ["a dictionary of the function's own", 6, line],
  ["a dictionary of the file, or another next to it", 7, line],
  ["what TRL passes by name", 8, columns],
  ["a column's own map, as far as the line shows it", 10, columns],
] as const)
  test(`a key that is missing in ${what}`, () => {
    assert.match(adviceAt(`score.py:${at}`, "score.py", source), advice);
    const cell = adviceAt(`nb.ipynb cell 2:${at}`, "nb.ipynb", notebook(["import re", source]));
    assert.match(cell, advice);
    assert.ok(cell.startsWith(`2:${at} `), cell);
  });
