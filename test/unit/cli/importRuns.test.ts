/** What `gradus runs import` warns of: another trainer's or another run's config, scores that are NaN, a folder imported before. */
import assert from "node:assert/strict";
import { appendFileSync, cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, it } from "node:test";
import { runFilePath, runFolder } from "../../../server/store/files.ts";
import { openAttempt } from "../../../shared/log/writer.ts";
import { gradus } from "../../support/cli.ts";
import { trlDump } from "../../support/trlDump.ts";
import { temporary } from "../support.ts";

describe("gradus runs import", () => {
  it("refuses a config of another trainer, and names both", async () => {
    const folder = temporary();
    cpSync("test/fixtures/projects/gsm", join(folder, "gsm"), { recursive: true });
    cpSync("test/fixtures/imported/trl", join(folder, "out"), { recursive: true });
    const { code, stdout, stderr } = await gradus(
      ["runs", "import", "out", "--config", "gsm/run.sh"],
      folder,
    );
    assert.deepEqual([code, stdout], [1, ""], stderr);
    assert.match(stderr, /run\.sh: error: this is a configuration of verl, and out holds rollouts of TRL/);
  });

  it("asks where a script's rewards are others than the files', and says what was imported before", async () => {
    const project = join(temporary(), "trl");
    cpSync("test/fixtures/projects/trl", project, { recursive: true });
    await trlDump(project);
    const own = await gradus(["runs", "import", "out"], project);
    assert.match(own.stdout, /found in data\/train\.parquet/, own.stderr);
    assert.doesNotMatch(own.stderr, /imported before|are they of one run/);
    const [run = ""] = own.stdout.split("\n");
    cpSync("test/fixtures/imported/trl", join(project, "other"), { recursive: true });
    const other = await gradus(["runs", "import", "other", "--config", "train.py"], project);
    assert.equal(other.code, 0);
    assert.match(
      other.stderr,
      /^rollouts have digits, short; train\.py has correct, brief, think_format_reward: are they of one run\?$/m,
    );
    const again = await gradus(["runs", "import", "out", "--json", "--again"], project);
    assert.deepEqual([JSON.parse(again.stdout).earlier, JSON.parse(again.stdout).others], [[run], null]);
    assert.match(
      (await gradus(["runs", "import", "out", "--again"], project)).stderr,
      new RegExp(`^imported before as ${JSON.parse(again.stdout).run}$`, "m"),
    );
  });

  it("makes no second run of what has not changed, of a log as of a folder, and says what comes next", async () => {
    const folder = temporary();
    cpSync("test/fixtures/imported/verl", join(folder, "out"), { recursive: true });
    symlinkSync(".", join(folder, "out", "round"));
    symlinkSync("nowhere", join(folder, "out", "latest"));
    const line = (step: number): string => `{'loss': 0.1, 'reward': ${step / 100}, 'epoch': ${step / 100}}\n`;
    writeFileSync(
      join(folder, "train.log"),
      Array.from({ length: 20 }, (_, step) => line(step + 1)).join(""),
    );
    for (const source of ["train.log", "out"]) {
      const words = ["runs", "import", source, "--no-config"];
      const first = await gradus(words, folder);
      const [run = ""] = first.stdout.split("\n");
      assert.match(first.stderr, new RegExp(`^next: gradus runs show ${run}$`, "m"));
      const second = await gradus(words, folder);
      assert.deepEqual([second.code, second.stdout], [0, `${run}\n`]);
      assert.equal(
        second.stderr,
        `already imported, and unchanged since: gradus runs show ${run}; --again imports it again\n`,
      );
      assert.deepEqual(JSON.parse((await gradus([...words, "--json"], folder)).stdout), {
        run,
        present: true,
      });
      const other = await gradus([...words, "--name", "other"], folder);
      assert.match(other.stderr, new RegExp(`^imported before as ${run}$`, "m"));
    }
    appendFileSync(join(folder, "train.log"), line(21));
    const grown = await gradus(["runs", "import", "train.log", "--no-config"], folder);
    assert.match(grown.stdout, / · 21 steps with metrics/);
  });

  it("names rollouts whose recorded score is NaN", async () => {
    const folder = temporary();
    cpSync("test/fixtures/imported/verl", join(folder, "out"), { recursive: true });
    const one = await gradus(["runs", "import", "out", "--no-config"], folder);
    assert.match(one.stdout, / · 1 rollout has no score \(NaN\): 3\.jsonl:7 · /, one.stderr);
    const file = join(folder, "out", "rollouts", "1.jsonl");
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    // A text may say so, too; the last line has no line break.
    lines[0] = lines[0]!.replace(/"output": "/, '"output": "\\"score\\": NaN ');
    lines[15] = lines[15]!.replace(/"score": [^,]+/, '"score": NaN');
    writeFileSync(file, lines.join("\n"));
    const two = await gradus(["runs", "import", "out", "--no-config"], folder);
    assert.match(two.stdout, / · 2 rollouts have no score \(NaN\): 1\.jsonl:16, 3\.jsonl:7 · /);
  });

  it("makes runs of which `last` is the config's own with rollouts", async () => {
    const folder = temporary();
    for (const name of ["trl", "gsm"])
      cpSync(join("test/fixtures/projects", name), join(folder, name), { recursive: true });
    await trlDump(join(folder, "trl"));
    cpSync("test/fixtures/imported/verl", join(folder, "gsm", "out"), { recursive: true });
    const told = async (...words: string[]): Promise<string> => {
      const { code, stdout, stderr } = await gradus(words, folder);
      assert.equal(code, 0, stderr);
      return stdout;
    };
    await told("runs", "import", "trl/out", "--store", ".");
    await told("runs", "import", "gsm/out", "--store", ".");
    const file = join(folder, "trl", "train.py");
    const failed = runFolder(join(folder, ".gradus"), "failed-20990101-000000-0000");
    const log = openAttempt(failed, 0);
    log.commit(-1);
    log.close();
    const run = { id: basename(failed), file, name: "failed", set: [], createdAt: "2099-01-01T00:00:00Z" };
    writeFileSync(runFilePath(failed), JSON.stringify(run));
    try {
      const [last] = JSON.parse(await told("runs", "list", "--json")).runs ?? [];
      assert.equal(last?.name, "failed");
      const lines = (await told("explain", "trl/train.py", "--rollouts", "last", "--json"))
        .trim()
        .split("\n");
      // 3 steps of 16 rollouts, and a summary of each; verl's has 5 steps.
      assert.equal(lines.length, 51);
    } finally {
      await gradus(["daemon", "stop"], folder);
    }
  });
});
