/** What `gradus init --from` writes of each preset: a config without errors, in which the preset's choices stand. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { checking } from "../../../server/cli/starter/checking.ts";
import { files } from "../../../server/cli/starter/files.ts";
import { objectOf } from "../../../shared/lib/json.ts";
import { listPresets, presetBodies } from "../../../server/config/presets.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import { temporary } from "../support.ts";
import { some } from "../../support/thorough.ts";

/** What a person brings: the rule that asks for it, by the preset's name. */
const asked: Readonly<Record<string, string>> = {
  "a-lol": "replay",
  "bayesian-mixture": "method-file",
  modomodo: "method-file",
};

const errorsOf = (file: string, text?: string): readonly string[] =>
  loadConfig(file, text === undefined ? {} : { text })
    .diagnostics.filter(({ severity }) => severity === "error")
    .map(({ rule, message }) => `${rule}: ${message}`);

/** What the starter has to say of, and a preset may have said already. */
const blocks = ["tasks", "curriculum", "stages"] as const;

for (const { id } of some(listPresets(), 70))
  test(`${id}: its starter is right as it is written`, () => {
    const folder = temporary();
    const texts = files(id, checking(join(folder, "countdown.gradus.yaml")));
    for (const [name, text] of Object.entries(texts)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const [config = ""] = Object.keys(texts);
    const found = errorsOf(join(folder, config));
    assert.deepEqual(
      found.map((line) => line.split(":")[0]),
      asked[id] === undefined ? [] : [asked[id]],
      found.join("\n"),
    );
    const alone = objectOf(loadConfig(join(folder, "alone.yaml"), { text: `extends: ${id}\n` }).tree);
    const starter = objectOf(loadConfig(join(folder, config)).tree);
    for (const block of blocks)
      if (presetBodies(id).some((body) => objectOf(body)[block] !== undefined))
        assert.deepEqual(withoutWarmUp(starter[block], alone[block]), alone[block], block);
    assert.equal(checking(join(folder, config))(texts[config]!).isUntaught, false);
  });

/** The preset's stages: the starter may teach a policy of random weights before them. */
const withoutWarmUp = (own: unknown, preset: unknown): unknown =>
  Array.isArray(own) && Array.isArray(preset) && own.length === preset.length + 1 && own[0].kind === "sft"
    ? own.slice(1)
    : own;
