import assert from "node:assert/strict";
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
