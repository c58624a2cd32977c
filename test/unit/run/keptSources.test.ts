/** What a run keeps of its reward files, its data and the versions that computed it. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { relativePath } from "../../../shared/lib/slashes.ts";
import { readKeptText, readSources } from "../../../shared/run/sources.ts";
import { withoutSecrets } from "../../../server/lib/texts/withoutSecrets.ts";
import { pythonImports } from "../../../server/lib/python/imports.ts";
import { sourceDifferences } from "../../../server/analysis/compare/sourceDifference.ts";
import { objectHost } from "../../support/objectHost.ts";
import { ofKind, testRun } from "../../support/runFolder.ts";
import { needs } from "../../support/system.ts";

await objectHost();

function project(files: Readonly<Record<string, string>>): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "gradus-sources-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
const sdk = (path: string): string =>
  JSON.stringify(resolve("node_modules/@modelcontextprotocol/server/dist", path));
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

test(
  "a run keeps the text of its rewards with what they import, hashes of its data, and versions",
  needs.python,
  async () => {
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
  },
);

const played = {
  "board.py": `from chips import value

class Board:
    def reset(self, task, seed):
        return "play"

    def step(self, text):
        return {"reward": value(), "done": True}
`,
  "boards.jsonl": `${[1, 2, 3, 4, 5, 6].map((n) => JSON.stringify({ prompt: `board ${n}` })).join("\n")}\n`,
  "chips.py": "def value():\n    return 0.5\n",
  "guess.ts": `import { low } from "./near.ts";
export default { reset: () => null, step: () => ({ reward: low, done: true }) };
`,
  "near.ts": "export const low = 0.25;\n",
  "lookUp.ts": `export default { description: "Looks up.", parameters: { type: "object" }, call: () => "a word" };\n`,
  "server.mjs": `import { name } from "./serverName.mjs";
import { McpServer } from ${sdk("index.mjs")};
import { serveStdio } from ${sdk("stdio.mjs")};
serveStdio(() => {
  const server = new McpServer({ name, version: "1" });
  server.registerTool("one", { description: "One." }, async () => ({ content: [] }));
  return server;
});
`,
  "serverName.mjs": 'export const name = "test";\n',
  "own.gradus.yaml": `name: own
model: { base: tiny, width: 16, layers: 1, heads: 2, context: 512 }
tasks:
  - { name: boards, dataset: boards.jsonl, play: ./board.py:Board }
  - { name: guesses, dataset: tasks.jsonl, play: ./guess.ts }
rollout:
  prompts: 4
  group: 2
  max_tokens: 4
  shape: environment
  tools: [./lookUp.ts, { use: mcp, command: [${JSON.stringify(process.execPath)}, ./server.mjs] }]
reward: { terms: { played: environment } }
curriculum: { admission: none }
evaluation: { prompts: 2, samples: 1, pass_at: [1] }
checkpoint: { every: 1 }
steps: 2
`,
};

test(
  "environments and tools are kept like rewards, and a resumed attempt runs and keeps the files as they are then",
  needs.python,
  async () => {
    const { folder, remove } = project({ ...files, ...played });
    const run = testRun([], join(folder, "own.gradus.yaml"));
    const boards = (attempt: number): Set<unknown> =>
      new Set(
        ofKind(run.records(attempt), "rollout")
          .filter(({ row }) => row.task?.arm === "boards")
          .map(({ row }) => row.rewards?.["played"]),
      );
    const event = (attempt: number): string[] =>
      ofKind(run.records(attempt), "event")
        .filter(({ name }) => name === "code-changed" || name === "sources-not-kept")
        .map(({ message }) => message);
    try {
      assert.equal(await run.work(), 0, run.ending());
      const first = readSources(run.folder, 0)!;
      assert.deepEqual(
        [...first.environments, ...first.tools].map(({ files: own, ...owner }) => [
          Object.values(owner)[0],
          own.filter(({ kept }) => kept !== null).map(({ path }) => path),
        ]),
        [
          ["boards", ["board.py", "chips.py"]],
          ["guesses", ["guess.ts", "near.ts"]],
          ["lookUp", ["lookUp.ts"]],
          ["one", ["server.mjs", "serverName.mjs"]],
        ],
      );
      assert.deepEqual([[...boards(0)], event(0)], [[0.5], []]);
      // As a worker killed in the second step leaves it.
      rmSync(join(run.folder, "checkpoints", "1"), { recursive: true });
      writeFileSync(join(folder, "chips.py"), played["chips.py"].replace("0.5", "0.75"));
      assert.equal(await run.work(1), 0, run.ending(1));
      assert.deepEqual([...boards(1)], [0.75]);
      assert.match(event(1).join(), /^Files have changed since the attempt before: chips\.py\./);
      const texts = [first, readSources(run.folder, 1)!].map(({ environments }) =>
        readKeptText(run.folder, environments[0]!.files[1]!),
      );
      assert.deepEqual(texts, [played["chips.py"], played["chips.py"].replace("0.5", "0.75")]);
      assert.deepEqual(
        sourceDifferences([first, readSources(run.folder, 1)]).map(({ kind, name }) => [kind, name]),
        [["environment", "chips.py"]],
      );
    } finally {
      run.remove();
      remove();
    }
  },
);

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
    assert.deepEqual(found.files.map(({ path }) => relativePath(folder, path)).sort(), [
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
