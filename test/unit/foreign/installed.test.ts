/** Rules that look at what is installed beside a file. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { diagnosed } from "../../support/foreignFixture.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-installed-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function project(name: string, transformers: string): string {
  const packages = join(folder, name, ".venv", "lib", "python3.12", "site-packages");
  for (const one of ["trl-1.16.0", `transformers-${transformers}`])
    mkdirSync(join(packages, `${one}.dist-info`), { recursive: true });
  return join(folder, name, "grpo.yaml");
}

const text = `model_name_or_path: a/b
dataset_name: trl-lib/DeepMath-103K
reward_funcs: [accuracy_reward]
num_generations: 8
use_transformers_continuous_batching: true
`;
const found = (file: string): string[] =>
  (diagnosed(file, text) ?? [])
    .filter(({ rule }) => rule === "trl-transformers")
    .map(({ message }) => message);

describe("trl-transformers", () => {
  it("tells of a Transformers that is too old", () => {
    assert.deepEqual(found(project("old", "5.3.0")), [
      "`use_transformers_continuous_batching` needs Transformers 5.8.0 or newer; 5.3.0 is installed. `pip install --upgrade transformers` mends it.",
    ]);
  });
  it("is silent with one that is new enough, and where none is installed", () => {
    assert.deepEqual(found(project("new", "5.8.0")), []);
    assert.deepEqual(found("/nowhere/grpo.yaml"), []);
  });
});
