import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  CodeLensRequest,
  DocumentFormattingRequest,
  DocumentRangeFormattingRequest,
  DocumentSymbolRequest,
  InlayHintRequest,
  SelectionRangeRequest,
  SemanticTokensRangeRequest,
  SemanticTokensRequest,
  WorkspaceSymbolRequest,
  type DocumentSymbol,
  type SelectionRange,
} from "vscode-languageserver-protocol/node";
import type { LanguageServer } from "../support/lspServer.ts";
import { applied, startServer } from "../support/lspServer.ts";

const text = `extends: dapo
tasks:
    - { env: countdown, numbers: [3], prompt: "{numbers} make {target}:" }
model: { base: tiny }
engine: { memory: 2GiB }
rollout: {prompts: 8,group: 4}   # small
reward:
    terms:
        correct: { use: equation, weight: { schedule: linear, from: 0, to: 1, over: 5 } }
    success: { terms: [correct] }
stages:
    - { name: only, steps: 10, until: { metric: "reward/correct", above: 0.8 } }
`;
const options = { tabSize: 2, insertSpaces: true };

describe("what an editor shows of a config", () => {
  let server: LanguageServer;
  let folder: string;
  before(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "gradus-shown-")));
    mkdirSync(join(folder, "more", "node_modules"), { recursive: true });
    writeFileSync(
      join(folder, "more", "other.gradus.yaml"),
      "tasks: [{ env: countdown, name: elsewhere }]\n",
    );
    writeFileSync(
      join(folder, "more", "node_modules", "not.gradus.yaml"),
      "tasks: [{ env: countdown, name: hidden }]\n",
    );
    writeFileSync(join(folder, "shown.gradus.yaml"), text);
    const uri = pathToFileURL(folder).href;
    server = await startServer({
      rootUri: uri,
      workspaceFolders: [{ uri, name: "it" }],
      initializationOptions: { codeLens: true },
    });
    await server.open(folder, "shown.gradus.yaml", text);
  });
  after(async () => {
    assert.equal(await server.stop(), 0);
    rmSync(folder, { recursive: true, force: true });
  });

  /** `8:8 correct variable.declaration`, as an editor reads them. */
  const decoded = (data: readonly number[]): string[] => {
    const { legend } = server.capabilities.semanticTokensProvider ?? assert.fail("no semantic tokens");
    const found: string[] = [];
    let [line, character] = [0, 0];
    for (let at = 0; at < data.length; at += 5) {
      const [down = 0, right = 0, length = 0, type = 0, bits = 0] = data.slice(at, at + 5);
      [line, character] = [line + down, down === 0 ? character + right : right];
      const word = (text.split("\n")[line] ?? "").slice(character, character + length);
      const said = legend.tokenModifiers.filter((_, bit) => (bits >> bit) & 1);
      found.push([`${line + 1}:${word}`, legend.tokenTypes[type], ...said].join(" "));
    }
    return found;
  };

  it("colours words by what they mean", async () => {
    const found = decoded((await server.ask(SemanticTokensRequest.type, {}))?.data ?? []);
    for (const one of [
      "1:dapo namespace readonly",
      "3:countdown function defaultLibrary",
      "3:numbers parameter",
      "3:{numbers} macro",
      "3:{target} macro",
      "4:model namespace",
      "5:2GiB number",
      "9:correct variable declaration",
      "9:equation function defaultLibrary",
      "9:linear enumMember",
      "10:correct variable",
      "12:only event declaration",
      "12:reward/ property readonly",
      "12:correct variable",
    ])
      assert.ok(found.includes(one), `${one} is not among ${found.join(", ")}`);
    const part = await server.ask(SemanticTokensRangeRequest.type, {
      range: { start: { line: 9, character: 0 }, end: { line: 9, character: 99 } },
    });
    assert.deepEqual(
      decoded(part?.data ?? []),
      found.filter((one) => one.startsWith("10:")),
    );
  });

  it("widens a selection from a word to its value, entry, block and the document", async () => {
    const found = await server.ask(SelectionRangeRequest.type, { positions: [{ line: 11, character: 56 }] });
    const steps: string[] = [];
    for (let one: SelectionRange | undefined = found?.[0]; one !== undefined; one = one.parent) {
      const { start, end } = one.range;
      const lines = text.split("\n");
      steps.push(
        start.line === end.line
          ? (lines[start.line] ?? "").slice(start.character, end.character)
          : `${start.line}-${end.line}`,
      );
    }
    assert.deepEqual(steps, [
      "correct",
      "reward/correct",
      '"reward/correct"',
      'metric: "reward/correct"',
      '{ metric: "reward/correct", above: 0.8 }',
      'until: { metric: "reward/correct", above: 0.8 }',
      '{ name: only, steps: 10, until: { metric: "reward/correct", above: 0.8 } }',
      '- { name: only, steps: 10, until: { metric: "reward/correct", above: 0.8 } }',
      "10-11",
      "0-11",
      "0-12",
    ]);
  });

  it("lists what has a name, in the document with what distinguishes it, and in the folders", async () => {
    const symbols = ((await server.ask(DocumentSymbolRequest.type, {})) ?? []) as DocumentSymbol[];
    const flat = (list: readonly DocumentSymbol[]): string[] =>
      list.flatMap(({ name, detail, children = [] }) => [`${name}: ${detail ?? ""}`, ...flat(children)]);
    const found = flat(symbols);
    for (const one of [
      "extends: dapo",
      "countdown: countdown",
      "numbers: 3",
      "correct: equation",
      "only: rl · 10 steps",
    ])
      assert.ok(found.includes(one), `${one} is not among ${found.join(", ")}`);
    const inFolders = async (query: string): Promise<string[]> =>
      ((await server.request(WorkspaceSymbolRequest.type, { query })) ?? []).map(
        ({ name, containerName, location }) =>
          `${name}, ${containerName ?? ""} ${basename(fileURLToPath(location.uri))}`,
      );
    assert.deepEqual(await inFolders("els"), ["elsewhere, task other.gradus.yaml"]);
    assert.deepEqual(await inFolders("hidden"), []);
    assert.deepEqual(await inFolders("crct"), ["correct, reward term shown.gradus.yaml"]);
    assert.equal((await inFolders("")).length, 4);
    writeFileSync(join(folder, "more", "other.gradus.yaml"), "tasks: [{ env: countdown, name: changed }]\n");
    utimesSync(join(folder, "more", "other.gradus.yaml"), 1, 1);
    assert.deepEqual(await inFolders("changed"), ["changed, task other.gradus.yaml"]);
  });

  it("computes hints, of the lines that are asked for", async () => {
    const hints = async (from: number, to: number): Promise<string[]> =>
      (
        (await server.ask(InlayHintRequest.type, {
          range: { start: { line: from, character: 0 }, end: { line: to, character: 0 } },
        })) ?? []
      ).map(({ position, label }) => `${position.line + 1}: ${String(label)}`);
    assert.deepEqual(await hints(5, 5), [
      "6: · 8 × 4 = 32 rollouts per step",
      "6: · ≤ 2,048 tokens per step",
    ]);
    assert.deepEqual(await hints(8, 8), ["9: 0 at the start, 1 at the end"]);
  });

  it("has lenses for editors that ask for them", async () => {
    const lenses = (await server.ask(CodeLensRequest.type, {})) ?? [];
    assert.deepEqual(
      lenses.map(({ range, command }) => `${range.start.line} ${command?.title ?? ""}`),
      ["0 ▶ Run", "0 Validate"],
    );
  });

  it("formats a document, or the blocks of a range, without changing what it says", async () => {
    const edits = (await server.ask(DocumentFormattingRequest.type, { options })) ?? [];
    const formatted = applied(text, edits);
    assert.equal(
      formatted,
      text.replaceAll("    ", "  ").replace("{prompts: 8,group: 4}", "{ prompts: 8, group: 4 }"),
    );
    const range = { start: { line: 5, character: 0 }, end: { line: 5, character: 3 } };
    const some = (await server.ask(DocumentRangeFormattingRequest.type, { options, range })) ?? [];
    assert.equal(applied(text, some), text.replace("{prompts: 8,group: 4}", "{ prompts: 8, group: 4 }"));
    await server.change(text.replace("dapo", "[dapo"));
    assert.deepEqual(await server.ask(DocumentFormattingRequest.type, { options }), []);
    await server.change(text);
  });

  it("answers everything at every character of a shipped example", async () => {
    const example = readFileSync("examples/countdown/countdown.gradus.yaml", "utf8");
    await server.open(folder, "example.gradus.yaml", example);
    const positions = example
      .split("\n")
      .flatMap((line, index) =>
        Array.from({ length: line.length + 1 }, (_, character) => ({ line: index, character })),
      );
    const selections = (await server.ask(SelectionRangeRequest.type, { positions })) ?? [];
    assert.equal(selections.length, positions.length);
    assert.deepEqual(await server.ask(DocumentFormattingRequest.type, { options }), []);
    await server.close();
  });
});
