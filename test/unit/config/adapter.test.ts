import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../../server/rules/load.ts";

const rest = "tasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\n";

test("a model's adapter and value heads come with their defaults", () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-adapter-config-"));
  try {
    const load = (model: string) => {
      const file = join(folder, "a.gradus.yaml");
      writeFileSync(file, `model: ${model}\n${rest}`);
      return loadConfig(file);
    };
    const plain = load("{ base: tiny }").config?.model;
    assert.equal(plain?.adapter, undefined);
    assert.deepEqual(plain?.heads, []);
    const chosen = load(
      "{ base: tiny, adapter: { rank: 4, targets: [q, v] }, value_heads: [value, { name: aside, detach: true }] }",
    ).config?.model;
    assert.deepEqual(chosen?.adapter, { rank: 4, alpha: 8, targets: ["q", "v"], dropout: 0 });
    assert.deepEqual(chosen?.heads, [
      { name: "value", detach: false, words: false },
      { name: "aside", detach: true, words: false },
    ]);
    assert.equal(load("{ base: tiny, adapter: {} }").config?.model.adapter?.targets.length, 7);
    const wrong = load("{ base: tiny, adapter: { dropout: 1 } }");
    assert.ok(wrong.diagnostics.some(({ key }) => key?.startsWith("model.adapter")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
