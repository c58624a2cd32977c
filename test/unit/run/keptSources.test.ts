/** What a run keeps of its reward files, its data and the versions that computed it. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readKeptText, readSources } from "../../../shared/run/sources.ts";
import { withoutSecrets } from "../../../server/lib/withoutSecrets.ts";
import { pythonImports } from "../../../server/methods/reward/own/python/imports.ts";
import { ofKind, testRun } from "../../support/runFolder.ts";

function project(files: Readonly<Record<string, string>>): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "gradus-sources-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const key = `sk-${"a".repeat(24)}`;
const files = {
  "rewards/short.ts": `import { limit } from "./limit.ts";\nconst API_KEY = "${key}";\nexport const score = ({ response }: { response: string }): number => Number(response.length < limit);\n`,
  "rewards/limit.ts": "export const limit = 4;\n",
  "rewards/style.py":
    "import json\nimport pip\nfrom helper import value\n\ndef compute_score(prompt, response, task, **more):\n    return value()\n",
  "rewards/helper.py": "def value():\n    return 0.5\n",
  "tasks.jsonl": `${[1, 2, 3, 4, 5, 6, 7, 8].map((n) => JSON.stringify({ prompt: `${n}+1=`, answer: String(n + 1) })).join("\n")}\n`,
  "own.gradus.yaml": `name: own
model: { base: tiny, width: 16, layers: 1, heads: 2, context: 64 }
tasks: [{ name: sums, dataset: tasks.jsonl }]
rollout: { prompts: 2, group: 2, max_tokens: 4 }
reward:
  terms:
    short: { use: ./rewards/short.ts, weight: 1 }
    style: { use: ./rewards/style.py, weight: 1 }
evaluation: { prompts: 1, samples: 1, pass_at: [1] }
steps: 1
`,
};

test("a run keeps the text of its rewards with what they import, hashes of its data, and versions", async () => {
  const { folder, remove } = project(files);
  const run = testRun([], join(folder, "own.gradus.yaml"));
  try {
    assert.equal(await run.work(), 0, run.ending());
    const kept = readSources(run.folder);
    assert.ok(kept !== undefined);
    assert.deepEqual(
      kept.rewards.map(({ term, files: own }) => [term, own.map(({ path }) => path)]),
      [
        ["short", ["rewards/short.ts", "rewards/limit.ts"]],
        ["style", ["rewards/style.py", "rewards/helper.py"]],
      ],
    );
    const [short, style] = kept.rewards.map(({ files: own }) => own[0]!);
    assert.equal(short!.sha256, sha256(files["rewards/short.ts"]));
    assert.equal(readKeptText(run.folder, style!), files["rewards/style.py"]);
    // A key in a source is not copied.
    assert.equal(short!.masked, true);
    assert.equal(readKeptText(run.folder, short!)!.includes(key), false);
    assert.match(readKeptText(run.folder, short!)!, /response\.length < limit/);
    assert.deepEqual(
      kept.data.map(({ path, bytes, sha256: hash }) => [path, bytes, hash]),
      [["tasks.jsonl", files["tasks.jsonl"].length, sha256(files["tasks.jsonl"])]],
    );
    assert.equal(kept.node, process.versions.node);
    assert.match(kept.python!.version, /^3\./);
    // `json` is Python's own, `helper` the project's.
    assert.deepEqual(Object.keys(kept.python!.packages), ["pip"]);
    assert.deepEqual(
      ofKind(run.records(), "event").filter(({ name }) => name === "sources-not-kept"),
      [],
    );
  } finally {
    run.remove();
    remove();
  }
});

test("what cannot be kept costs a message and not the run", async () => {
  const run = testRun(["steps=1"]);
  try {
    // Where the folder should be lies a file.
    writeFileSync(join(run.folder, "sources"), "");
    assert.equal(await run.work(), 0, run.ending());
    const events = ofKind(run.records(), "event").filter(({ name }) => name === "sources-not-kept");
    assert.equal(events.length, 1);
    assert.equal(readSources(run.folder), undefined);
  } finally {
    run.remove();
  }
});

test("a run of an earlier version has none, and a damaged record counts as none", () => {
  const { folder, remove } = project({ "sources/0.json": "{" });
  try {
    assert.equal(readSources(folder), undefined);
    assert.equal(readSources(join(folder, "elsewhere")), undefined);
    assert.equal(readKeptText(folder, { kept: "../0.json" }), undefined);
  } finally {
    remove();
  }
});

test("imports of a Python file: files next to it by any form, packages by their first names", () => {
  const { folder, remove } = project({
    "a.py":
      "import os, numpy as np\nfrom pkg import one, two\nfrom .near import (\n  x,\n  y,\n)\nimport pkg.deep.three\n",
    "near.py": "import torch.nn\n",
    "pkg/__init__.py": "",
    "pkg/one.py": "from . import two\n",
    "pkg/two.py": "from ..near import z\nimport a\n",
    "pkg/deep/three.py": "",
    "unused.py": "",
  });
  try {
    const found = pythonImports(join(folder, "a.py"), readFileSync(join(folder, "a.py"), "utf8"));
    assert.deepEqual(found.files.map(({ path }) => path.slice(folder.length + 1)).sort(), [
      "near.py",
      "pkg/__init__.py",
      "pkg/deep/three.py",
      "pkg/one.py",
      "pkg/two.py",
    ]);
    assert.deepEqual([...found.modules].sort(), ["numpy", "os", "torch"]);
  } finally {
    remove();
  }
});

test("keys and passwords are left out of a text, and nothing else is", () => {
  const lines: readonly (readonly [string, string])[] = [
    ['client = OpenAI(api_key="0123456789abcdef")', 'client = OpenAI(api_key="left out")'],
    [`headers = { Authorization: "Bearer ${"x".repeat(20)}" }`, 'headers = { Authorization: "left out" }'],
    [`const hub = "hf_${"B".repeat(20)}";`, 'const hub = "left out";'],
    ["const password: string = 'correct horse';", "const password: string = 'left out';"],
    ["token = tokens[0]", "token = tokens[0]"],
    ['key = os.environ["API_KEY"]', 'key = os.environ["API_KEY"]'],
    ['end_token = "</s>"', 'end_token = "</s>"'],
  ];
  for (const [written, kept] of lines) assert.equal(withoutSecrets(written).text, kept);
});
