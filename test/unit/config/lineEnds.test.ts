/** Files that an editor of Windows saved are read as they would be with other line ends. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { readNotebook } from "../../../server/lib/notebook/notebook.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import { passagesIn } from "../../../server/methods/tool/passages.ts";
import { signatureOf } from "../../../server/config/check/signatures/index.ts";
import { temporary } from "../support.ts";

const windows = (text: string): string => text.replaceAll("\r\n", "\n").replaceAll("\n", "\r\n");

test("a config has the same values and diagnostics", () => {
  const folder = resolve("test/fixtures/config/rules");
  for (const name of readdirSync(folder).filter((one) => one.endsWith(".gradus.yaml"))) {
    const file = join(folder, name);
    const text = readFileSync(file, "utf8");
    const seen = (one: string): unknown => {
      const { config, diagnostics } = loadConfig(file, { text: one });
      const plain = (key: string, value: unknown) => (key === "declaration" ? undefined : value);
      return JSON.parse(JSON.stringify([config, diagnostics], plain).replaceAll("\\r\\n", "\\n"));
    };
    assert.deepEqual(seen(windows(text)), seen(text), name);
  }
});

test("a reward's function has the same signature and comment", () => {
  const folder = temporary();
  const sources = {
    "a.py":
      'def compute_score(\n    response: str,  # what it says\n    answer="x",\n):\n    """One line.\n\n    - of a list\n    """\n    return 1\n',
    "a.ts":
      "/**\n * One line.\n *\n * - of a list\n */\nexport function compute_score({ response, args: { most = 3 } }: Input): number {\n  return 1;\n}\n",
  };
  for (const [name, text] of Object.entries(sources)) {
    const file = join(folder, name);
    const [plain, other] = [text, windows(text)].map((one) => {
      writeFileSync(file, one);
      return signatureOf(file, "compute_score");
    });
    assert.ok(plain?.doc.includes("of a list"), name);
    assert.deepEqual(other, plain, name);
  }
});

test("notebooks and passages have the same lines", () => {
  const source = (end: string) => ["import os", "", "print(1)"].map((line) => line + end);
  const module = (end: string): string =>
    readNotebook(
      "a.ipynb",
      windows(JSON.stringify({ cells: [{ cell_type: "code", source: source(end) }] }, null, 1)),
    );
  assert.equal(module("\r\n"), module("\n"));
  const folder = temporary();
  const passages = (end: string): unknown => {
    const row = { id: "1", contents: `"A title"${end}Its text.` };
    writeFileSync(join(folder, "a.jsonl"), `${JSON.stringify(row)}${end}${JSON.stringify(row)}${end}`);
    return passagesIn(join(folder, "a.jsonl"), 100);
  };
  assert.deepEqual(passages("\r\n"), passages("\n"));
});
