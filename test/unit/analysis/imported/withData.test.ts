/** Which row of a config's data an imported rollout was asked from. */
import { needs } from "../../../../server/config/needs.ts";
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { PromptIndex } from "../../../../server/analysis/imported/promptIndex.ts";
import { verlRows } from "../../../../server/analysis/imported/verlRows.ts";
import { withData } from "../../../../server/analysis/imported/withData.ts";
import { recordOf } from "../../../../server/analysis/recorded.ts";
import { loadFile } from "../../../../server/frameworks/use/asConfig/load.ts";
import { parquetRows } from "../../../../server/lib/parquet.ts";
import { temporary } from "../../support.ts";

test("the longest whole text in a prompt counts; of two rows with one text neither, unless they are equal", () => {
  const index = new PromptIndex<string>();
  const add = (text: string, row: string): void => index.add(text, row, (one, other) => one === other);
  add("3 + 4", "short");
  add("What is 3 + 4? Answer with a number.\n", "long");
  add("twice", "one");
  add("twice", "other");
  add("again", "same");
  add("again", "same");
  add(" ", "blank");
  const found = (prompt: string): string | undefined => index.find(prompt);
  assert.equal(found("<user>What is 3 + 4? Answer with a number.<end>"), "long");
  assert.equal(found("<user>What is 3 + 4?<end>"), "short");
  assert.equal(found("What is 13 + 45?"), undefined);
  assert.deepEqual(
    [found("say it twice"), found("say it again"), found("   ")],
    [undefined, "same", undefined],
  );
});

test("verl's dumps get extra_info and data_source of the row, and keep what they have", () => {
  const folder = join(temporary(), "gsm");
  cpSync("test/fixtures/projects/gsm", folder, { recursive: true });
  const { config } = loadFile(join(folder, "run.sh"), { recorded: true, needs: needs.explained });
  const { tasks } = config!.top;
  const [, row] = parquetRows(join(folder, "data", "train.parquet"));
  const [{ content }] = row!["prompt"] as [{ content: string }];
  const entries = [content, "another question"].map((text) => ({
    ...{ input: `user\n${text}\nassistant\n`, output: "#### 35", gts: "35", score: 1, step: 1 },
    extra_info: "the dump's",
  }));
  const terms = [{ field: "score", term: "score", weight: 1 }];
  const records = verlRows(entries, 1, { terms }).map((one) => recordOf(one, tasks));
  const [found, other] = withData(records, tasks);
  assert.equal(found?.task.data["data_source"], "openai/gsm8k");
  assert.deepEqual(found.task.data["reward_model"], row!["reward_model"]);
  assert.deepEqual([found.task.answer, found.task.data["extra_info"]], ["35", "the dump's"]);
  assert.equal(found.task.source, tasks[0]?.name);
  assert.equal(other, records[1]);
  // Rollouts of a run of ours have their data.
  const own = records.map((record) => ({ ...record, task: { ...record.task, env: "dataset" } }));
  assert.equal(withData(own, tasks), own);
});
