import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import {
  DidOpenTextDocumentNotification,
  DocumentSymbolRequest,
  FoldingRangeRequest,
  InlayHintRequest,
  type InlayHint,
} from "vscode-languageserver-protocol/node";
import { builtCli } from "../support/cli.ts";
import { applied, cursor, startServer, type LanguageServer } from "../support/lspServer.ts";

const good =
  "tasks: [{ env: countdown, numbers: [3, 4] }]\nreward:\n  terms:\n    correct: { use: equation, weight: 1 }\ncurriculum: { sampler: { use: boltzmann, temperature: 0.4 } }\n";

describe("gradus lsp --stdio", () => {
  let server: LanguageServer;
  let folder = "";
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "gradus-lsp-"));
    server = await startServer();
  });
  after(async () => {
    assert.equal(await server.stop(), 0);
    rmSync(folder, { recursive: true, force: true });
  });

  it("opens, complains, fixes, and is content", async () => {
    const text = good.replace("boltzmann", "boltzman").replace("tasks", "taks");
    const first = await server.open(folder, "a.gradus.yaml", text);
    assert.deepEqual(
      first.diagnostics.map(({ code, range }) => [code, range.start]),
      [
        ["unknown-key", { line: 0, character: 0 }],
        ["unknown-value", { line: 4, character: 30 }],
      ],
    );
    assert.equal(first.diagnostics[0]?.source, "gradus");
    const [quick] = await server.actions(first, ["quickfix"]);
    assert.equal(quick?.isPreferred, true);
    const mended = applied(text, quick?.edit?.changes?.[server.uri] ?? []);
    const second = await server.change(mended);
    assert.deepEqual(
      second.diagnostics.map(({ code }) => code),
      ["unknown-value"],
    );
    const [all] = await server.actions({ ...second, diagnostics: [] }, ["source.fixAll"]);
    assert.equal(all?.kind, "source.fixAll.gradus");
    const third = await server.change(applied(mended, all?.edit?.changes?.[server.uri] ?? []));
    assert.deepEqual(third.diagnostics, []);
    assert.equal(applied(mended, all?.edit?.changes?.[server.uri] ?? []), good);
  });

  it("clears what it said when a document closes", async () => {
    await server.open(folder, "b.gradus.yaml", "nonsense: 1\n");
    const seen = server.published.length;
    await server.close();
    assert.deepEqual((await server.next(seen)).diagnostics, []);
  });

  it("takes plain YAML documents by their name, and leaves others alone", async () => {
    assert.equal(
      (await server.open(folder, "c.gradus.yaml", "nonsense: 1\n", "yaml")).diagnostics[0]?.code,
      "unknown-key",
    );
    const seen = server.published.length;
    const other = pathToFileURL(join(folder, "compose.yaml")).href;
    await server.connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri: other, languageId: "yaml", version: 1, text: "nonsense: 1\n" },
    });
    await server.open(folder, "d.gradus.yaml", good);
    assert.ok(!server.published.slice(seen).some(({ uri }) => uri === other));
  });

  it("sees a changed parent after a save", async () => {
    writeFileSync(join(folder, "parent.yaml"), "rollout: { promts: 3 }\n");
    const first = await server.open(folder, "e.gradus.yaml", `extends: ./parent.yaml\n${good}`);
    assert.match(String(first.diagnostics[0]?.message), /parent\.yaml:1:12/);
    writeFileSync(join(folder, "parent.yaml"), "rollout: { prompts: 3 }\n");
    const seen = server.published.length;
    await server.connection.sendNotification("textDocument/didSave", { textDocument: { uri: server.uri } });
    assert.deepEqual((await server.next(seen)).diagnostics, []);
  });

  it("answers in broken text, whatever it is", async () => {
    await server.open(folder, "f.gradus.yaml", good);
    for (const text of [
      "",
      ":",
      "- - -",
      "tasks: [{",
      "a: &a [*a]",
      "\u0000\u{1f600}: [",
      "tasks:\n\t- x",
      '"',
      "{}}",
      "? [a]\n: b",
      "extends: [",
      "---\n---\n",
      good.repeat(2),
      "a".repeat(5_000),
    ]) {
      const { diagnostics } = await server.change(text);
      assert.ok(diagnostics.length > 0, JSON.stringify(text));
      for (const line of [0, 1]) {
        await server.hover({ line, character: 1 });
        await server.complete({ line, character: 1 });
      }
      await server.connection.sendRequest(DocumentSymbolRequest.type, { textDocument: { uri: server.uri } });
      await server.connection.sendRequest(FoldingRangeRequest.type, { textDocument: { uri: server.uri } });
      await server.actions({ uri: server.uri, diagnostics });
    }
    assert.equal(server.child.exitCode, null);
    assert.deepEqual((await server.change(good)).diagnostics, []);
  });

  const offers: readonly (readonly [string, string, readonly string[], readonly string[]])[] = [
    ["top-level keys", `${good}|`, ["rollout", "stages", "extends"], ["tasks", "alpha"]],
    ["top-level keys half written", `${good}roll|`, ["rollout"], ["tasks"]],
    ["presets", `extends: |\n${good}`, ["dapo", "sec"], ["rollout"]],
    ["methods of a slot", `${good}objective: |`, ["clipped", "reinforce"], ["token_mean"]],
    ["methods after use", `${good}objective: { use: | }`, ["clipped", "reinforce"], ["low"]],
    ["parameters of the method in force", `${good}objective: { | }`, ["use", "low", "aggregate"], ["budget"]],
    [
      "parameters of the method written",
      `${good}objective:\n  use: reinforce\n  |`,
      ["aggregate", "entropy"],
      ["low", "use"],
    ],
    ["keys of a nested block", `${good}rollout:\n  |`, ["prompts", "group"], ["tasks"]],
    ["words of a value", `${good}engine: { backend: | }`, ["auto", "wasm"], []],
    ["an item of tasks", `tasks:\n  - env: |\n`, ["countdown", "arithmetic"], ["dataset"]],
    [
      "an item of stages",
      `${good}stages:\n  - name: a\n    |`,
      ["kind", "steps", "rollout", "until"],
      ["name"],
    ],
    [
      "metrics of a condition",
      `${good}stages:\n  - name: a\n    until: { metric: | }`,
      ["reward/total", "reward/correct"],
      ["reward/<term>"],
    ],
    ["names to override", `${good}stages:\n  - name: a\n    tasks:\n      |`, ["countdown"], []],
    ["a schedule", `${good}rollout: { temperature: { | } }`, ["schedule", "over"], []],
  ];
  for (const [name, marked, wanted, unwanted] of offers) {
    it(`completes ${name}`, async () => {
      const { text, position } = cursor(marked);
      await server.open(folder, "g.gradus.yaml", good);
      await server.change(text);
      const labels = (await server.complete(position)).map(({ label }) => label);
      for (const label of wanted) assert.ok(labels.includes(label), `${label} not in ${labels.join(" ")}`);
      for (const label of unwanted) assert.ok(!labels.includes(label), `${label} in ${labels.join(" ")}`);
    });
  }

  it("inserts what it offers in the place of the word", async () => {
    const { text, position } = cursor(`${good}rollout:\n  gro|`);
    await server.open(folder, "h.gradus.yaml", good);
    await server.change(text);
    const group = (await server.complete(position)).find(({ label }) => label === "group");
    assert.ok(group?.textEdit && "range" in group.textEdit);
    assert.equal(applied(text, [group.textEdit]), `${good}rollout:\n  group: `);
  });

  it("explains methods, keys and where a value comes from", async () => {
    await server.open(folder, "i.gradus.yaml", `extends: sec\n${good}rollout:\n  group: 4\n`);
    const method = await server.hover({ line: 5, character: 34 });
    assert.match(method, /boltzmann/);
    assert.match(method, /p\(a\)|softmax/);
    assert.match(method, /Self-Evolving Curriculum/);
    const key = await server.hover({ line: 7, character: 4 });
    assert.match(key, /rollout\.group/);
    assert.match(key, /Rollouts per task/);
    assert.match(key, /whole number/);
    assert.match(key, /i\.gradus\.yaml:8/);
    assert.match(await server.hover({ line: 0, character: 11 }), /Self-Evolving Curriculum/);
    assert.match(await server.hover({ line: 5, character: 45 }), /temperature.*Default: `1`/s);
  });

  it("outlines and folds", async () => {
    await server.open(
      folder,
      "j.gradus.yaml",
      "# one\n# two\ntasks:\n  - env: countdown\n    numbers: [3]\nreward:\n  terms:\n    correct: equation\n",
    );
    const symbols =
      (await server.connection.sendRequest(DocumentSymbolRequest.type, {
        textDocument: { uri: server.uri },
      })) ?? [];
    assert.deepEqual(
      symbols.map(({ name }) => name),
      ["tasks", "reward"],
    );
    const [tasks] = symbols;
    assert.ok(tasks && "children" in tasks);
    assert.deepEqual(
      tasks.children?.map(({ name }) => name),
      ["countdown"],
    );
    const folds =
      (await server.connection.sendRequest(FoldingRangeRequest.type, {
        textDocument: { uri: server.uri },
      })) ?? [];
    assert.deepEqual(folds.map(({ startLine, endLine }) => [startLine, endLine]).sort(), [
      [0, 1],
      [2, 4],
      [3, 4],
      [5, 7],
      [6, 7],
    ]);
  });

  it("what a run needs of the memory is after the model, and what is too much says so", async () => {
    const hints = async (text: string): Promise<InlayHint[]> => {
      await server.change(text);
      const range = { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } };
      return (
        (await server.connection.sendRequest(InlayHintRequest.type, {
          textDocument: { uri: server.uri },
          range,
        })) ?? []
      );
    };
    const [hint, ...more] = await hints(`${good}model: { base: tiny, layers: 2 }\n`);
    assert.equal(more.length, 0);
    assert.deepEqual(hint?.position, { line: 5, character: 32 });
    assert.match(String(hint?.label), /^about \d+ MiB of memory$/);
    assert.match(JSON.stringify(hint?.tooltip), /Predicted peak memory of a run: .*process 400 MiB/);
    const [tight] = await hints(`${good}engine: { memory: 100MiB }\n`);
    assert.match(String(tight?.label), /of memory: more than 100 MiB$/);
    assert.match(String((await hints(`${good}steps: none\n`))[0]?.label), /^about \d+ MiB of memory$/);
    assert.deepEqual(await hints(`${good}model: { base: tiny, layers: two }\n`), []);
  });

  it("answers each change of a file of 500 lines", async () => {
    const terms = Array.from(
      { length: 480 },
      (_, i) => `    term_${i}: { use: length, weight: ${i}, shape: linear }`,
    ).join("\n");
    const text = `tasks: [{ env: countdown }]\nreward:\n  terms:\n    correct: equation\n${terms}\n`;
    await server.open(folder, "k.gradus.yaml", text);
    for (let i = 0; i < 25; i++) {
      await server.change(text.replace("weight: 3,", `weight: 3.${i + 1},`));
    }
  });
});

describe("a language server whose client is gone", () => {
  it("ends", async () => {
    const child = spawn(process.execPath, [await builtCli(), "lsp", "--stdio"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    child.stdin.end();
    assert.equal((await ended)[0], 1);
  });
});
