/** A run of another trainer's script: the daemon converts it, the worker trains the converted config. */
import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Workspace } from "../support/workspace.ts";

test("gradus run run.sh --set model.base=tiny trains, and the run is the script's", async () => {
  const workspace = new Workspace();
  try {
    cpSync("test/fixtures/projects/gsm", workspace.folder, { recursive: true });
    const script = join(workspace.folder, "run.sh");
    const text = readFileSync(script, "utf8")
      .replace(/^.*custom_reward_function.*\n/gm, "")
      .replace("max_response_length=64", "max_response_length=4")
      .replaceAll("batch_size=8", "batch_size=2");
    writeFileSync(script, text);
    const small = ["model.base=tiny", "model.width=16", "model.layers=1", "evaluation.pass_at=[1]"];
    const words = [...small, "evaluation.prompts=1"].flatMap((one) => ["--set", one]);
    const { code, stderr, ...talk } = await workspace.finish(
      "run",
      "run.sh",
      ...words,
      "--steps",
      "1",
      "--json",
    );
    assert.equal(code, 0, stderr);
    assert.equal(talk.lines.filter(({ type }) => type === "step").length, 1);
    const [run = ""] = talk.lines.filter(({ type }) => type === "started").map(({ run }) => run ?? "");
    const shown = await workspace.finish("runs", "show", run, "--json");
    const [record] = shown.lines;
    assert.match(JSON.stringify(record), /"file":"[^"]*run\.sh"/);
    const kept = join(workspace.runFolder(run), "authored.gradus.yaml");
    assert.match(readFileSync(kept, "utf8"), /^# Converted from a configuration of verl/);
    // What a resumed run compares itself with.
    assert.match(readFileSync(join(workspace.runFolder(run), "resolved.json"), "utf8"), /"base":"tiny"/);
  } finally {
    await workspace.remove();
  }
});
