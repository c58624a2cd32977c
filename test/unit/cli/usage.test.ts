import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { builtCli, gradus } from "../../support/cli.ts";

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "gradus-usage-"));
  mkdirSync(join(folder, "folder.gradus.yaml"));
  writeFileSync(join(folder, "two.gradus.yaml"), "tasks: [{ env: countdown }]\n---\nsteps: 3\n");
  writeFileSync(join(folder, "other.yaml"), "actor_rollout_ref: {}\ndata: { train_batch_size: 4 }\n");
});
after(() => rmSync(folder, { recursive: true, force: true }));

describe("wrong usage", () => {
  const wrong: readonly [words: readonly string[], message: RegExp][] = [
    [[], /^Usage: gradus/],
    [["vlidate", "x"], /unknown command 'vlidate'\n\(Did you mean validate\?\)/],
    [["help", "vlidate"], /Usage: gradus/],
    [["validate"], /missing required argument 'file'/],
    [["validate", "x", "--fromat", "json"], /Did you mean --format\?/],
    [["methods", "samplr"], /Did you mean `sampler`\? Slots: /],
    [["init", "--from", "dappo"], /Did you mean `dapo`\? Presets: /],
    [["init", "mine.gradus.yaml"], /Name the folder/],
    [["rules", "colapsed"], /There is no rule colapsed\. Did you mean collapsed\?/],
    [["resolve", "x", "--steps", "1.5"], /Write a whole number of at least 1\./],
    [["resolve", "x", "--seed", "a"], /Write a whole number\./],
    [["rollouts", "x", "--limit", "0"], /Write a whole number of at least 1\./],
    [
      ["runs", "export", "x", "--to", "xml"],
      /Allowed choices are jsonl, history, curriculum, csv, json, report, html, tensorboard, trackio, wandb, hf, gguf, peft/,
    ],
  ];
  for (const [words, message] of wrong)
    it(`gradus ${words.join(" ")} exits 2 and says what would be right`, async () => {
      const { code, stdout, stderr } = await gradus(words, folder);
      assert.equal(code, 2);
      assert.equal(stdout, "");
      assert.match(stderr, message);
    });
});

describe("help", () => {
  for (const words of [["help"], ["--help"], ["help", "validate"], ["validate", "--help"]])
    it(`gradus ${words.join(" ")} prints it on stdout and exits 0`, async () => {
      const { code, stdout, stderr } = await gradus(words, folder);
      assert.equal(code, 0);
      assert.equal(stderr, "");
      assert.match(stdout, words.includes("validate") ? /--format <format>/ : /validate +check configs/);
    });
});

describe("what is not there", () => {
  it("names files that cannot be read, without the system's words", async () => {
    const { code, stderr } = await gradus(["validate", "none.yaml", "folder.gradus.yaml"], folder);
    assert.equal(code, 1);
    assert.match(stderr, /^none\.yaml:1:1: error: The file cannot be read: there is no such file\./m);
    assert.match(stderr, /^folder\.gradus\.yaml:1:1: error: The file cannot be read: it is a folder\./m);
    assert.doesNotMatch(stderr, /ENOENT|EISDIR/);
  });

  it("refuses a second document instead of dropping it", async () => {
    const { code, stderr } = await gradus(["validate", "two.gradus.yaml"], folder);
    assert.equal(code, 1);
    assert.match(stderr, /^two\.gradus\.yaml:2:1: error: A config is one document/m);
  });

  it("says whose config another trainer's is, where only our own can be read", async () => {
    const { code, stderr } = await gradus(["resolve", "other.yaml"], folder);
    assert.equal(code, 1);
    assert.match(stderr, /^other\.yaml:1:1: error: This looks like a verl config.*\[not-yet\]\n$/);
  });

  it("lists no runs, and starts no daemon, where there is no store", async () => {
    assert.match((await gradus(["runs"], folder)).stdout, /^No runs yet\. Start one: gradus run FILE$/m);
    const { code, stdout } = await gradus(["runs", "list", "--json"], folder);
    assert.deepEqual([code, JSON.parse(stdout)], [0, { runs: [] }]);
  });

  it("exits 1 with the next action for a run of a store that is not there", async () => {
    const { code, stderr } = await gradus(["rollouts", "last"], folder);
    assert.equal(code, 1);
    assert.match(stderr, /There is no store at .*\n {2}Start a run \(gradus run FILE\)/);
  });

  it("says what a curriculum can be asked", async () => {
    const file = join(folder, "asked.gradus.yaml");
    writeFileSync(file, "tasks: [{ env: countdown }]\nreward: { terms: { right: equation } }\n");
    const { code, stderr } = await gradus(["curriculum", file], folder);
    assert.equal(code, 2);
    assert.match(stderr, /--history FILE, or .* --simulate/);
  });
});

describe("a reader that leaves early", () => {
  it("ends the command quietly", async () => {
    const child = spawn(process.execPath, [await builtCli(), "schema"], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stderr = "";
    child.stderr.on("data", (data: Buffer) => (stderr += data.toString()));
    child.stdout.destroy();
    const [code]: unknown[] = await once(child, "close");
    assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  });
});
