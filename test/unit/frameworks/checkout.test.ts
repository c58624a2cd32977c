/** A script in a checkout of the framework is judged as that checkout's release. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { checkFrameworkDocument, readFrameworkDocument } from "../../../server/frameworks/check/index.ts";
import { compareVersions } from "../../../server/frameworks/text/releaseOrder.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-checkout-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function checkout(name: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries({ "pyproject.toml": "", ".git": "", ...files })) {
    const file = join(folder, name, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return join(folder, name);
}

const launch =
  "python3 -m verl.trainer.main_ppo data.datagen.path=a.py actor_rollout_ref.rollout.name=vllm\n";
const judged = (file: string, text = launch): [string, string] => {
  const document = readFrameworkDocument(file, text, { environment: "" });
  assert.ok(document);
  return [document.version.text, document.version.from];
};

describe("a checkout of verl", () => {
  const root = checkout("verl", { "verl/__init__.py": "", "verl/version/version": "0.7.0\n" });
  const file = join(root, "examples/grpo_trainer/run.sh");

  it("says which release runs", () => assert.deepEqual(judged(file), ["0.7.0", "checkout"]));

  it("is what keys are checked against", () => {
    const found = (at: string): string[] =>
      checkFrameworkDocument(readFrameworkDocument(at, launch, { environment: "" })!).map(({ rule }) => rule);
    assert.ok(!found(file).includes("foreign-moved-key"));
    assert.ok(found("/nowhere/run.sh").includes("foreign-moved-key"));
  });

  it("gives way to a release that the script itself names", () =>
    assert.deepEqual(judged(file, `# verl 0.9.0\n${launch}`), ["0.9.0", "file"]));

  it("is no folder that only bears its name", () => {
    const other = checkout("project", { "verl/version/version": "0.7.0\n" });
    assert.equal(judged(join(other, "run.sh"))[1], "newest");
  });
});

describe("checkouts of TRL and OpenRLHF", () => {
  it("say it in files of their own", () => {
    const trl = checkout("trl", { "trl/__init__.py": '__version__ = "0.20.0"\n' });
    const text = "trl grpo --model_name_or_path a/b --dataset_name c/d --reward_funcs accuracy_reward\n";
    assert.deepEqual(judged(join(trl, "run.sh"), text), ["0.20.0", "checkout"]);
    const openrlhf = checkout("openrlhf", { "openrlhf/__init__.py": "", "version.txt": "0.11.0" });
    const flags = "python3 -m openrlhf.cli.train_ppo_ray --train.batch_size 128\n";
    assert.deepEqual(judged(join(openrlhf, "examples/run.sh"), flags), ["0.11.0", "checkout"]);
  });
});

describe("a release that is not out yet", () => {
  it("comes before itself", () => {
    assert.ok(compareVersions("0.8.0.dev", "0.8.0") < 0);
    assert.ok(compareVersions("1.10.0.dev0", "1.9.2") > 0);
    assert.ok(compareVersions("1.0.0rc1", "1.0.0") < 0);
    assert.equal(compareVersions("1.0", "1.0.0"), 0);
  });
});
