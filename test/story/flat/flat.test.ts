/**
 * "Why is my GRPO reward flat?": a folder with a notebook, a launch and a log, and no file of ours. What is wrong is said, mended
 * and gone, and the log opens as a run. README.md tells it, and its picture shows it.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { gradus } from "../../support/cli.ts";
import { writeFlatStory } from "../../support/flatStory.ts";
import { withoutPython } from "../../support/pythonReward.ts";

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "gradus-flat-"));
  writeFlatStory(folder);
});
after(async () => {
  await gradus(["daemon", "stop"], folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
const asked = (...words: string[]) => gradus(words, folder);

const log =
  /^slurm-123\.out {6}Collapsed from step 18\d to 2[23]\d: format 0\.2\d* → 1\.0\d while correctness fell 0\.4\d* → 0\.1\d* \(means of the first and the last 10 steps\); held-out eval_reward 0\.41\d* → 0\.1\d* \(means of the first and the last 5 evaluations\)\.$/;
const launch =
  /^run\.sh:15 {10}This run trains on verl's own reward for the data's `data_source`, not on rewards\/gsm\.py: /;
const sample =
  /^nb\.ipynb: .* 3 sample rows with the columns of openai\/gsm8k, which is not on this disk\.\n/;

describe("why is my reward flat", () => {
  it("is said in three lines, without a file of ours and without running anything", async () => {
    const { code, stdout, stderr } = await asked("check", ".");
    assert.equal(code, 1);
    assert.equal(
      stderr,
      "the reward of nb.ipynb did not run: `gradus check --run` tries it, in a folder that you trust.\n" +
        "2 of them have a fix: gradus validate --fix run.sh nb.ipynb\n",
    );
    const [first, second, third, counts, ...others] = stdout.trimEnd().split("\n");
    assert.match(first!, log);
    assert.match(second!, launch);
    assert.match(
      third!,
      /^nb\.ipynb cell 4:2 {2}`soft_format` .*"\." does not match a newline \(re\.DOTALL\)\.$/,
    );
    assert.equal(counts, "3 findings in 2 projects and 1 log; 4 files of ms-swift were not checked");
    assert.deepEqual(others, []);
  });

  it(
    "is shown by the reward itself, once: what a rule reads the reward shows as well",
    {
      skip: withoutPython,
    },
    async () => {
      const { stdout, stderr } = await asked("check", "nb.ipynb", "--run");
      assert.match(
        stdout,
        /^nb\.ipynb cell 4:2 {2}`soft_format`: the format that your prompt shows earns 0 of 0\.5: "\." does not match a newline \(re\.DOTALL\)\.\n1 finding in 1 project\n$/,
      );
      assert.match(stderr, sample);
      assert.match(stderr, /^1 of them has a fix: gradus validate --fix nb\.ipynb$/m);
    },
  );

  it(
    "is mended in the cell, after which every reference answer earns what it should",
    {
      skip: withoutPython,
    },
    async () => {
      assert.equal((await asked("validate", "nb.ipynb", "--fix")).code, 0);
      assert.match(readFileSync(join(folder, "nb.ipynb"), "utf8"), /\(\?s\)/);
      const { code, stdout, stderr } = await asked("check", "nb.ipynb", "--run");
      assert.equal(code, 0);
      assert.equal(stdout, "no findings in 1 project\n");
      assert.match(stderr, sample);
      assert.match(
        (await asked("reward", "nb.ipynb")).stdout,
        /^3 of 3 gold answers score 2 \(written in the format that the prompt shows\)\nOn average they earn 2\.5: soft_format 0\.5, correct 2\.$/m,
      );
    },
  );

  it("opens the log as a run, with the same verdict", async () => {
    assert.equal((await asked("runs", "import", "slurm-123.out")).code, 0);
    const { stdout } = await asked("runs", "show", "last");
    assert.match(
      stdout,
      /Collapsed from step 18\d to 2[23]\d: `format` 0\.2\d* → 1\.0\d while `correctness` fell/,
    );
  });
});
