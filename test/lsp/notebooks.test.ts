/** Notebooks of TRL in the editor: what works in a script works in a cell, at the cell's own places. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, describe, it } from "node:test";
import { DefinitionRequest, InlayHintRequest } from "vscode-languageserver-protocol/node";
import { ask } from "../../shared/daemon/request.ts";
import { UserError } from "../../shared/lib/errors.ts";
import { rewardGold } from "../../shared/protocol/protocol.ts";
import { writeFlatStory } from "../support/flatStory.ts";
import { withoutPython } from "../support/pythonReward.ts";
import { applied, cursor, startServer, type LanguageServer } from "../support/lspServer.ts";
import { tutorial } from "../support/notebooks.ts";
import { OpenNotebook } from "../support/openNotebook.ts";

let server: LanguageServer;
let folder = "";
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "gradus-cells-"));
  server = await startServer();
});
after(async () => {
  assert.equal(await server.stop(), 0);
  rmSync(folder, { recursive: true, force: true });
});

let opened = 0;
async function open(cells: readonly string[]): Promise<OpenNotebook> {
  const notebook = new OpenNotebook(server, folder, `${++opened}.ipynb`, cells);
  await notebook.open();
  return notebook;
}

/** Text, imports, a query, and in cell 4 line 2 what is misspelt. */
const small = (line = "    max_step=100,"): string[] => [
  "#md # GRPO\nfrom trl import GRPOTrainer",
  "%pip install -q trl==1.2.0\nfrom trl import GRPOConfig, GRPOTrainer",
  "%%sql\nSELECT GRPOConfig(max_step=1)",
  `args = GRPOConfig(\n${line}\n    num_generations=8,\n)`,
  'def brief(completions, **kwargs):\n    return [-len(c) for c in completions]\n\ntrainer = GRPOTrainer(\n    model="Qwen/Qwen2.5-0.5B-Instruct",\n    reward_funcs=brief,\n    args=args,\n    train_dataset=rows,\n)',
];
const misspelt = "4:2 foreign-unknown-key";

describe("a notebook in the editor", () => {
  it("is checked at its cells, until the fix is typed", async () => {
    const notebook = await open(small());
    assert.deepEqual(await notebook.shown(), [misspelt]);
    const [found] = notebook.of(notebook.cellUri(4));
    assert.deepEqual(found?.range, { start: { line: 1, character: 4 }, end: { line: 1, character: 12 } });
    await notebook.type(4, "max_step=", "max_steps=");
    assert.deepEqual(await notebook.shown(), []);
    await notebook.close();
  });

  it("is fixed by edits of the cell", async () => {
    const notebook = await open(small());
    await notebook.shown();
    server.uri = notebook.cellUri(4);
    const diagnostics = notebook.of(server.uri);
    for (const only of [["quickfix"], ["source.fixAll"]]) {
      const [action] = await server.actions({ uri: server.uri, diagnostics }, only);
      const changes = action?.edit?.changes ?? {};
      assert.deepEqual(Object.keys(changes), [server.uri]);
      assert.equal(applied(small()[3] ?? "", changes[server.uri] ?? []), small("    max_steps=100,")[3]);
      if (only[0] === "quickfix") assert.deepEqual(action?.diagnostics, diagnostics);
    }
    server.uri = notebook.cellUri(5);
    assert.deepEqual(await server.actions({ uri: server.uri, diagnostics: [] }, ["quickfix"]), []);
    await notebook.close();
  });

  it("follows cells that move, come, go and become code", async () => {
    const notebook = await open(small());
    await notebook.splice(4, 2, [5, 4]);
    assert.deepEqual(await notebook.shown(), ["5:2 foreign-unknown-key"]);
    await notebook.splice(4, 0, ["import re", "#md A note"]);
    assert.deepEqual(await notebook.shown(), ["7:2 foreign-unknown-key"]);
    await notebook.type(4, "import re", "\nimport re");
    assert.deepEqual(await notebook.shown(), ["7:2 foreign-unknown-key"]);
    await notebook.splice(7, 1, []);
    assert.deepEqual(await notebook.shown(), []);
    await notebook.splice(7, 0, ["#md\nother = GRPOConfig(\n    max_step=1)"]);
    assert.deepEqual(await notebook.shown(), []);
    await notebook.turnToCode(7);
    assert.deepEqual(await notebook.shown(), ["7:3 foreign-unknown-key"]);
    await notebook.close();
    assert.deepEqual(notebook.of(notebook.cellUri(7)), []);
  });

  it("is not checked again because a cell ran", async () => {
    const notebook = await open(small());
    await notebook.shown();
    const seen = server.published.length;
    await notebook.ran(4);
    assert.deepEqual(await notebook.shown(), [misspelt]);
    assert.equal(server.published.length, seen);
    await notebook.close();
  });

  it("may have Windows' line ends", async () => {
    const notebook = await open(small().map((text) => text.replaceAll("\n", "\r\n")));
    assert.deepEqual(await notebook.shown(), [misspelt]);
    server.uri = notebook.cellUri(4);
    const [action] = await server.actions({ uri: server.uri, diagnostics: notebook.of(server.uri) });
    assert.deepEqual(
      action?.edit?.changes?.[server.uri]?.map(({ range, newText }) => [range.start, newText]),
      [[{ line: 1, character: 4 }, "max_steps"]],
    );
    await notebook.close();
  });

  it("completes and explains what the cursor is on, by all of its cells", async () => {
    const { text, position } = cursor("    learning|\n    max_steps=100,");
    const notebook = await open(small(text));
    server.uri = notebook.cellUri(4);
    const items = await server.complete({ ...position, line: position.line + 1 });
    const rate = items.find(({ label }) => label === "learning_rate");
    assert.deepEqual(rate?.textEdit, {
      range: { start: { line: 1, character: 4 }, end: { line: 1, character: 12 } },
      newText: "learning_rate=",
    });
    await notebook.type(4, "    learning\n", "");
    assert.match(await server.hover({ line: 1, character: 8 }), /`max_steps`[^]*TRL 1\.2\.0/);
    assert.equal(await server.hover({ line: 0, character: 2 }), "");
    server.uri = notebook.cellUri(3);
    assert.equal(await server.hover({ line: 1, character: 20 }), "");
    assert.deepEqual(await server.complete({ line: 1, character: 20 }), []);
    server.uri = notebook.cellUri(4);
    const range = { start: { line: 0, character: 0 }, end: { line: 3, character: 0 } };
    assert.deepEqual(await server.ask(InlayHintRequest.type, { range }), []);
    assert.equal(await server.ask(DefinitionRequest.type, { position: range.start }), null);
    await notebook.close();
  });

  it("names another place in its cell", async () => {
    const cells = tutorial("    loss_type=KIND,\n    beta=0.1,");
    cells.splice(4, 0, 'KIND = "bnpoo"');
    const notebook = await open(cells);
    assert.deepEqual(await notebook.shown(), ["6:5 foreign-value"]);
    await notebook.close();
  });

  it("is silent where it is healthy, another's, or of another language", async () => {
    const seen = server.published.length;
    for (const cells of [
      tutorial(),
      ["import pandas as pd\nlearning_rat = 1", "!ls"],
      ["from unsloth import FastLanguageModel", "import trl"],
      ["#md Only text", "%%sql\nSELECT 1"],
      [""],
      [],
    ]) {
      const notebook = await open(cells);
      assert.deepEqual(await notebook.shown(1), []);
      await notebook.close();
    }
    assert.equal(server.published.length, seen);
  });

  it("is silent as a text of JSON", async () => {
    const seen = server.published.length;
    const notebook = await open(small(""));
    await server.connection.sendNotification("textDocument/didOpen", {
      textDocument: {
        uri: notebook.uri.replace("ipynb", "json.ipynb"),
        languageId: "json",
        version: 1,
        text: JSON.stringify({ cells: [{ cell_type: "code", source: small()[3] }] }),
      },
    });
    await notebook.shown();
    assert.equal(server.published.length, seen);
    await notebook.close();
  });

  it("is read, too, as marimo writes it", async () => {
    const text =
      "import marimo\n\napp = marimo.App()\n\n\n@app.cell\ndef _():\n    from trl import GRPOConfig, GRPOTrainer\n    return GRPOConfig, GRPOTrainer\n\n\n@app.cell\ndef _(GRPOConfig):\n    args = GRPOConfig(\n        max_step=100,\n    )\n    return (args,)\n";
    const { diagnostics } = await server.open(folder, "marimo.py", text, "python");
    assert.deepEqual(
      diagnostics.map(({ code, range }) => [code, range.start]),
      [["foreign-unknown-key", { line: 14, character: 8 }]],
    );
    await server.close();
  });
});

describe("a reward in a notebook", { skip: withoutPython }, () => {
  it("has its reference answers counted without a store, where the client trusts the folder", async () => {
    const own = join(folder, "flat");
    writeFlatStory(own);
    const file = join(own, "nb.ipynb");
    const counted = async (trusted: boolean, text = readFileSync(file, "utf8")): Promise<string[]> => {
      const uri = pathToFileURL(file).href;
      const { counts } = await ask(server.connection, rewardGold, { uri, text, trusted });
      return (counts ?? []).map(({ name, rewarded, of }) => `${name} ${rewarded} of ${of}`);
    };
    assert.deepEqual(await counted(false), []);
    assert.deepEqual(await counted(true), ["soft_format 0 of 3", "correct 3 of 3"]);
    await assert.rejects(counted(true, "{"), UserError);
    assert.deepEqual(
      readdirSync(own).filter((name) => name === ".gradus"),
      [],
    );
  });
});
