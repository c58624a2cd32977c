import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { gradus } from "../../../support/cli.ts";

describe("gradus convert", () => {
  it("writes the config on stdout and what is lost on stderr", async () => {
    const { code, stdout, stderr } = await gradus(["convert", "test/fixtures/convert/verl.sh"]);
    assert.equal(code, 0);
    assert.equal(parse(stdout).rollout.group, 4);
    assert.match(stderr, /^test\/fixtures\/convert\/verl\.sh: \d+ without a counterpart:$/m);
    assert.match(stderr, /^ {2}actor_rollout_ref\.rollout\.name = vllm: names an engine of verl$/m);
  });

  it("gives both as one JSON value", async () => {
    const { stdout, stderr } = await gradus(["convert", "test/fixtures/convert/trl.yaml", "--json"]);
    const { config, unmapped } = JSON.parse(stdout);
    assert.equal(stderr, "");
    assert.equal(parse(config).kl[0].coefficient, 0.04);
    assert.deepEqual(Object.keys(unmapped[0]), ["key", "value", "reason"]);
  });

  it("says which of the values that decide a run are the framework's defaults", async () => {
    const folder = mkdtempSync(join(tmpdir(), "gradus-convert-"));
    const file = join(folder, "run.sh");
    writeFileSync(
      file,
      "python3 -m verl.trainer.main_ppo data.train_files=a.parquet actor_rollout_ref.rollout.n=8\n",
    );
    const { stderr } = await gradus(["convert", file]);
    assert.match(stderr, /the file does not say, and the config has the framework's defaults:\n(  .*\n)*/);
    assert.match(
      stderr,
      /^ {2}data\.train_batch_size = 1024: the default of verl 0\.9\.1, the newest known$/m,
    );
    const { stdout } = await gradus(["convert", file, "--json"]);
    const { defaulted }: { defaulted: { key: string }[] } = JSON.parse(stdout);
    assert.deepEqual(
      defaulted.map(({ key }) => key),
      [
        "actor_rollout_ref.model.path",
        "data.train_batch_size",
        "data.max_prompt_length",
        "data.max_response_length",
      ],
    );
    rmSync(folder, { recursive: true });
  });

  it("takes no fork for verl, whichever of verl's keys it has", async () => {
    const folder = mkdtempSync(join(tmpdir(), "gradus-convert-"));
    const file = join(folder, "run.sh");
    for (const entry of ["-m verl.trainer.main", "verl/trainer/main.py"]) {
      writeFileSync(
        file,
        `python3 ${entry} config=a.yaml algorithm.adv_estimator=grpo algorithm.use_kl_loss=true worker.actor.model.model_path=m\n`,
      );
      const { code, stdout, stderr } = await gradus(["convert", file]);
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(stderr, /a configuration of EasyR1, which Gradus does not read/);
    }
    rmSync(folder, { recursive: true });
  });

  it("names what is wrong, and what to do", async () => {
    const missing = await gradus(["convert", "none.sh"]);
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /none\.sh: error: .*\[missing-file\]/);
    const other = await gradus(["convert", "package.json"]);
    assert.equal(other.code, 1);
    assert.match(other.stderr, /\[unknown-config\]\n {2}Give a verl Hydra file/);
    assert.equal((await gradus(["convert", "x", "--from", "mine"])).code, 2);
  });
});
