/** Whatever is offered can be accepted: the file then still parses, and what was written is where it was offered. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import type { CompletionItem } from "vscode-languageserver";
import { loadConfig } from "../../../server/rules/load.ts";
import type { MapNode } from "../../../server/config/text/node.ts";
import { parseSource } from "../../../server/config/text/source.ts";
import { completionsAt } from "../../../server/language/completion/completion.ts";
import { applied } from "../../support/lspServer.ts";
import { some } from "../../support/thorough.ts";

const origin = { file: "f", folder: "", via: [], layer: "file" } as const;
const problems = (text: string): string[] =>
  parseSource("f", text, origin).diagnostics.map(
    ({ message, range }) => `${range.start.line + 1}:${range.start.character + 1} ${message}`,
  );

/** As an editor leaves it when the person fills nothing in. */
const filledIn = (snippet: string): string =>
  snippet.replaceAll(
    /\\(.)|\$\{\d+:((?:\\.|[^}])*)\}|\$\d+/g,
    (_, literal?: string, held?: string) => literal ?? (held ?? "").replaceAll(/\\(.)/g, "$1"),
  );

function accept(text: string, { textEdit, additionalTextEdits, insertTextFormat }: CompletionItem): string {
  assert.ok(textEdit && "range" in textEdit);
  const newText = insertTextFormat === 2 ? filledIn(textEdit.newText) : textEdit.newText;
  return applied(text, [...(additionalTextEdits ?? []), { range: textEdit.range, newText }]);
}

interface File {
  readonly name: string;
  readonly text: string;
  readonly merged: MapNode;
}
const inFolder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".yaml") && !name.endsWith(".test.yaml"))
    .map((name) => join(folder, name));
const read = (name: string): File => {
  const text = readFileSync(name, "utf8");
  return { name, text, merged: loadConfig(resolve(name), { text }).root };
};

/** How many offers were accepted; fails on the first that leaves no YAML. */
function acceptAll(file: File, text: string, line: number, character: number, snippets: boolean): number {
  const { items } = completionsAt({
    text,
    position: { line, character },
    merged: file.merged,
    file: resolve(file.name),
    client: { snippets, suggest: false },
  });
  for (const item of items) {
    const after = accept(text, item);
    const found = problems(after);
    if (found.length > 0)
      assert.fail(
        `${file.name}:${line + 1}:${character + 1} accepting ${item.label}: ${found[0]}\n${after
          .split("\n")
          .slice(Math.max(0, line - 2), line + 4)
          .join("\n")}`,
      );
  }
  return items.length;
}

/** Beginnings of words on a line, comments aside. */
const wordsOf = (line: string): number[] =>
  [...line.replace(/(^|\s)#.*/, "").matchAll(/[\w./"']+/g)].map(({ index }) => index);

const indentOf = (line: string): number => line.length - line.trimStart().length;

/** Whether the line after `at` would be within a folded text, whose rest a key there would cut off. */
function isFolded(lines: readonly string[], at: number): boolean {
  const start = lines.slice(0, at + 1).findLastIndex((line) => line.endsWith(">-"));
  return (
    start >= 0 && lines.slice(start + 1, at + 1).every((line) => indentOf(line) > indentOf(lines[start]!))
  );
}

function depthBelow(lines: readonly string[], at: number): number {
  const next = lines.slice(at + 1).find((line) => !/^\s*(?:#.*)?$/.test(line));
  return next === undefined ? 0 : indentOf(next);
}

describe("accepting what is offered", () => {
  const files = some(
    [...inFolder("examples"), ...inFolder("presets").filter((_, index) => index % 4 === 0)],
    5,
  ).map(read);

  it("in the place of every word", () => {
    let accepted = 0;
    for (const file of files) {
      const header = /^preset:(?:\n[ ].*)*/m.exec(file.text)?.[0].split("\n").length ?? 0;
      file.text.split("\n").forEach((line, at) => {
        if (/^\s*#/.test(line) || (header > 0 && at < header + 2)) return;
        for (const start of wordsOf(line)) accepted += acceptAll(file, file.text, at, start, true);
      });
    }
    assert.ok(accepted > 1_000, String(accepted));
  });

  for (const snippets of [true, false])
    it(`on an empty line at any depth, ${snippets ? "with" : "without"} places to fill in`, () => {
      let accepted = 0;
      for (const file of some(files.slice(0, 12), 2)) {
        const lines = file.text.split("\n");
        lines.forEach((above, at) => {
          if (isFolded(lines, at)) return;
          for (const depth of some([0, 1, 2, 3, 4, 6, 7], 2)) {
            // A key that is written less deep than the lines below takes them as its own.
            if (depthBelow(lines, at) > depth && !/:\s*$/.test(above)) continue;
            const text = [...lines.slice(0, at + 1), " ".repeat(depth), ...lines.slice(at + 1)].join("\n");
            if (problems(text).length === 0) accepted += acceptAll(file, text, at + 1, depth, snippets);
          }
        });
      }
      assert.ok(accepted > 1_000, String(accepted));
    });
});
