/** The look at a folder before anything of ours is loaded: what it finds, what it passes over, and where it ends. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { firstLaunch } from "../../../extension/wake/look.ts";
import { temporary } from "../support.ts";

const verl = "set -x\npython3 -m verl.trainer.main_ppo data.train_batch_size=8\n";
const trl = "from trl import GRPOConfig, GRPOTrainer\n";

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = temporary();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}
const bounds = { files: 200, bytes: 64 * 1024, depth: 4, names: 5_000, namesOfOne: 1_000 };
async function found(files: Readonly<Record<string, string>>, most: Partial<typeof bounds> = {}) {
  const folder = folderOf(files);
  const launch = await firstLaunch(folder, { ...bounds, ...most });
  return launch && [launch.trainer, relative(folder, launch.file)];
}

test("a launch is found by what it starts, whatever it is called", async () => {
  assert.deepEqual(await found({ "scripts/train.sh": verl }), ["verl", join("scripts", "train.sh")]);
  assert.deepEqual(await found({ "src/a/b/main.py": trl }), ["trl", join("src", "a", "b", "main.py")]);
  assert.deepEqual(await found({ "conf/x.yml": "# trl grpo --config x.yml\nlearning_rate: 1e-6\n" }), [
    "trl",
    join("conf", "x.yml"),
  ]);
  const cell = { cell_type: "code", source: ["import torch\n", trl], outputs: [], metadata: {} };
  const notebook = JSON.stringify({ cells: [cell], nbformat: 4 }, undefined, 1);
  assert.deepEqual(await found({ "train.ipynb": notebook }), ["trl", "train.ipynb"]);
});

test("folders of other programs hold none", async () => {
  assert.equal(
    await found({
      "grpo_verl.sh": "pip install verl trl\n",
      "main.py": "import torch\nfrom verl.utils import fs\n",
      "README.md": verl,
      "values.yaml": "algorithm: ppo\n",
    }),
    undefined,
  );
  assert.equal(await firstLaunch(join(temporary(), "gone")), undefined);
});

test("packages, environments and hidden folders are passed over, and links are not followed", async () => {
  for (const name of ["node_modules/a", ".git/hooks", ".venv/bin", "site-packages/trl", "__pycache__"])
    assert.equal(await found({ [`${name}/run.sh`]: verl }), undefined, name);
  assert.equal(await found({ "mine/pyvenv.cfg": "", "mine/bin/run.sh": verl }), undefined);
  const folder = temporary();
  symlinkSync(folderOf({ "run.sh": verl }), join(folder, "elsewhere"));
  assert.equal(await firstLaunch(folder), undefined);
});

test("it reads so many files, so much of each, and so deep", async () => {
  const scripts = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`a${n}.sh`, "echo\n"]));
  const own = { ...scripts, "z.sh": verl };
  assert.equal((await found(own, { files: 10 }))?.[1], "z.sh");
  assert.equal(await found(own, { files: 9 }), undefined);
  assert.equal(await found({ "run.sh": `${"#\n".repeat(600)}${verl}` }, { bytes: 1_000 }), undefined);
  const deep = join("1", "2", "3", "4", "run.sh");
  assert.equal((await found({ [deep]: verl }))?.[1], deep);
  assert.equal(await found({ [join("0", deep)]: verl }), undefined);
});

test("a folder of data costs no more than its first names", async () => {
  const data = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`data/${n}.jsonl`, ""]));
  assert.equal((await found({ ...data, "scripts/train.sh": verl }, { namesOfOne: 10 }))?.[0], "verl");
  assert.equal(await found({ ...data, "scripts/train.sh": verl }, { names: 2 }), undefined);
});

test("a folder that may not be read is passed over", { skip: process.getuid?.() === 0 }, async () => {
  const folder = folderOf({ "closed/run.sh": verl, "open/run.sh": verl });
  chmodSync(join(folder, "closed"), 0);
  assert.equal((await firstLaunch(folder))?.file, join(folder, "open", "run.sh"));
});

test("the look is a bundle that loads nothing else", () => {
  const size = statSync("dist/look.js").size;
  assert.ok(size < 10_000, `${size} bytes`);
  const text = readFileSync("dist/look.js", "utf8");
  const loaded = [...text.matchAll(/(?:require|import)\("([^"]+)"\)/g)].map(([, name]) => name);
  assert.deepEqual(loaded.toSorted(), ["node:fs/promises", "node:path"]);
});
