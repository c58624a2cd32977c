/** A preset's paths start where the config that names it lies, not among the presets. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../../server/rules/load.ts";
import { temporary } from "../support.ts";

const rest = "tasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\n";

function logOf(file: string, text: string): string | undefined {
  const { config, diagnostics } = loadConfig(file, { text });
  assert.deepEqual(diagnostics, []);
  return config?.stages[0]?.body.replay.source.folder;
}

test("each config has the preset's file next to it, also one that another extends", () => {
  const [one, other] = [temporary(), temporary()];
  const text = `extends: sapo-swarm\n${rest}`;
  assert.equal(logOf(join(one, "a.gradus.yaml"), text), one);
  assert.equal(logOf(join(other, "a.gradus.yaml"), text), other);
  mkdirSync(join(one, "base"));
  writeFileSync(join(one, "base", "b.gradus.yaml"), text);
  assert.equal(logOf(join(one, "c.gradus.yaml"), "extends: ./base/b.gradus.yaml\n"), join(one, "base"));
});
