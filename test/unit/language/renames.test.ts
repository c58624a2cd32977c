import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { TextDocument } from "vscode-languageserver-textdocument";
import fc from "fast-check";
import { loadConfig } from "../../../server/rules/load.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { OpenConfigs, type OpenConfig } from "../../../server/language/documents.ts";
import { formatting } from "../../../server/language/format/index.ts";
import { hintsOf } from "../../../server/language/hints/index.ts";
import { ConfigFiles } from "../../../server/language/names/configFiles.ts";
import { renames } from "../../../server/language/names/rename.ts";
import { definitions } from "../../../server/language/navigation/definition.ts";
import { documentLinks } from "../../../server/language/navigation/documentLinks.ts";
import { folds, symbols } from "../../../server/language/outline.ts";
import { selectionAt } from "../../../server/language/selection.ts";
import { semanticTokens } from "../../../server/language/semanticTokens.ts";
import { applied } from "../../support/lspServer.ts";
import { count, some } from "../../support/thorough.ts";

const configs = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter(({ name }) => /\.gradus\.yaml$/.test(name))
    .map(({ parentPath, name }) => resolve(join(parentPath, name)));
const files = [...configs("examples"), ...configs("test/fixtures/config")];

function opened(file: string, text: string): { open: OpenConfig; index: ConfigFiles } {
  const open = new OpenConfigs().get(TextDocument.create(pathToFileURL(file).href, "gradus-yaml", 1, text));
  const wishes = { lenses: false, suggest: false, drawsRun: false, trusted: false, client: {}, folders: [] };
  return { open, index: new ConfigFiles({ configs: () => [open], editor: () => wishes }) };
}

/** But of recorded logs, whose names of terms no rename reaches, and of names that differ by capitals alone, which a new name mends. */
const said = (file: string, text: string): string[] =>
  loadConfig(file, { text })
    .diagnostics.filter(
      ({ rule, message }) => rule !== "replay-terms" && !message.includes("by capital letters alone"),
    )
    .map(({ severity, rule, range }) => `${severity} ${rule} ${range.start.line}`)
    .sort();

describe("a rename", () => {
  it("of any name of any config leaves it saying the same", async () => {
    let done = 0;
    for (const file of some(files, 40)) {
      const text = readFileSync(file, "utf8");
      const { open, index } = opened(file, text);
      const before = said(file, text);
      const names = index.get(file)?.names.occurrences ?? [];
      for (const { range, name, kind } of names) {
        const edits = await renames(index, index.get(file)!, range.start, "freshName").catch(
          (error: unknown) => {
            if (error instanceof UserError) return undefined;
            throw error;
          },
        );
        const own = edits?.[open.uri];
        // What is renamed in a parent as well is not on disk yet.
        if (edits === undefined || own === undefined || Object.keys(edits).length > 1) continue;
        const after = applied(text, own);
        // What was said about a wrong or missing name is said still.
        assert.deepEqual(said(file, after), before, `${kind} ${name} of ${file}:\n${after}`);
        done += 1;
      }
    }
    assert.ok(done > count(60, 150), `only ${done} names were renamed`);
  });
});

describe("what is asked of a config while it is being written", () => {
  it("never fails, wherever something is missing, doubled or torn", async () => {
    const texts = files.map((file) => [file, readFileSync(file, "utf8")] as const);
    const pieces = fc.constantFrom(
      "{",
      "}",
      "[",
      ": ",
      "- ",
      "\n",
      "\t",
      "#",
      '"',
      "é",
      "&a ",
      "*a",
      "|\n",
      "<<: *a\n",
      "\r\n",
      "---\n",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...texts),
        fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(12), pieces), {
          minLength: 1,
          maxLength: 4,
        }),
        async ([file, source], edits) => {
          const text = edits.reduce((now, [where, gone, put]) => {
            const at = Math.floor(where * now.length);
            return now.slice(0, at) + put + now.slice(at + gone);
          }, source);
          const { open, index } = opened(file, text);
          const known = index.get(file);
          assert.ok(known);
          const document = TextDocument.create(open.uri, "gradus-yaml", 1, text);
          const position = document.positionAt(Math.floor((edits[0]?.[0] ?? 0) * text.length));
          definitions(index, open, position);
          documentLinks(known, open.whole.root);
          semanticTokens({ ...known, merged: open.whole.root });
          selectionAt(open.root, text, position);
          folds(open.root, text);
          if (open.root !== undefined) symbols(open.root);
          await hintsOf(open, undefined);
          assert.ok(formatting(open.uri, text).every(({ newText }) => typeof newText === "string"));
          await renames(index, known, position, "freshName").catch((error: unknown) =>
            assert.ok(error instanceof UserError, String(error)),
          );
        },
      ),
      { numRuns: count(8, 400), seed: 11 },
    );
  });
});
