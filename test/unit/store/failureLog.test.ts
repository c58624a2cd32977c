/** A log next to what a training wrote says why it ended. */
import assert from "node:assert/strict";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { relativePath } from "../../../shared/lib/slashes.ts";
import { failureIn, failureText } from "../../../server/store/imported/failureLog.ts";
import { newFolder } from "./support.ts";

const failed = [
  "Error executing job with overrides: ['actor_rollout_ref.rollout.n=8']",
  "Traceback (most recent call last):",
  '  File "/home/me/verl/trainer/ppo/ray_trainer.py", line 346, in _validate_config',
  "AssertionError: real_train_batch_size (80) must be divisible by minimal possible batch size (32)",
  "",
].join("\n");

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = join(newFolder(), "out");
  Object.entries(files).forEach(([name, text], at) => {
    const file = join(folder, name);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, text);
    utimesSync(file, at + 1, at + 1);
  });
  return folder;
}

test("the newest log that shows a failure counts, two folders below at most", () => {
  const folder = folderOf({
    "a/b/c/deep.log": failed,
    "logs/run.log": failed,
    "metrics.jsonl": failed,
    "note.out": "all is well\n",
  });
  const found = failureIn(folder);
  assert.deepEqual(
    [found?.log, found?.line, found?.key],
    [join(folder, "logs", "run.log"), 4, "data.train_batch_size"],
  );
  assert.equal(failureIn(join(folder, "metrics.jsonl"))?.log, found?.log);
  assert.equal(
    failureText(found!, (path) => relativePath(folder, path)),
    "the training failed (logs/run.log:4): A step's 80 rollouts cannot be split over the devices: 80 is no multiple of 32. It was thrown at /home/me/verl/trainer/ppo/ray_trainer.py:346. Choose data.train_batch_size so that it times the rollouts of a prompt is a multiple of 32. In the config of Gradus the key is `rollout.prompts`.",
  );
  assert.equal(failureIn(folderOf({ "run.log": "step:3 - critic/score/mean:0.4\n" })), undefined);
});

test("of a long log its end is read", () => {
  const folder = folderOf({ "run.log": `${"some text of a step that was made\n".repeat(20_000)}${failed}` });
  const found = failureIn(folder);
  assert.deepEqual([found?.line, found?.key], [null, "data.train_batch_size"]);
});
