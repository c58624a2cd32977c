/**
 * Each file in test/fixtures/config/rules says by itself what must be found in it: below a faulty line are
 * `#  ^^^ severity [rule] key: message`. Files called `*.ok.gradus.yaml` are near misses: nothing but infos.
 * GRADUS_GOLDEN=1 rewrites the markers, to be read before they are committed.
 */
import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import type { Diagnostic } from "../../../server/config/check/diagnostic.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import { engineKeys } from "../../../server/frameworks/lens/engineKeys.ts";
import { modelFacts } from "../../../server/analysis/modelFacts.ts";
import { rules } from "../../../server/rules/index.ts";
import { structural } from "../../../server/rules/structural.ts";

const folder = resolve("test/fixtures/config/rules");
const isMarker = (line: string): boolean => /^#\s*\^/.test(line) || /^#\s*<\^/.test(line);

function markers(diagnostics: readonly Diagnostic[], line: number, text: string): string[] {
  return diagnostics
    .filter(({ range }) => range.start.line === line)
    .map(({ range, severity, rule, key, message }) => {
      const end = range.end.line > line ? text.length : range.end.character;
      const width = Math.max(1, end - range.start.character);
      // The comment's own `#` takes the first column.
      const carets =
        range.start.character === 0
          ? `#<${"^".repeat(width)}`
          : `#${" ".repeat(range.start.character - 1)}${"^".repeat(width)}`;
      return `${carets} ${severity} [${rule}] ${key}: ${message}`;
    });
}

/** The text without its markers, and with those that the diagnostics ask for. */
function annotated(source: string, file: string): { written: string; diagnostics: readonly Diagnostic[] } {
  const bare = source.split("\n").filter((line) => !isMarker(line));
  // The file on disk is extended and addressed by its path; its text here has no markers.
  const { diagnostics } = loadConfig(file, { text: bare.join("\n"), models: modelFacts, engineKeys });
  const written = bare.flatMap((line, index) => [line, ...markers(diagnostics, index, line)]).join("\n");
  return { written, diagnostics };
}

describe("diagnostics in a config", () => {
  for (const name of readdirSync(folder).filter((name) => name.endsWith(".gradus.yaml"))) {
    it(name.replace(".gradus.yaml", ""), () => {
      const file = join(folder, name);
      const source = readFileSync(file, "utf8");
      const { written, diagnostics } = annotated(source, file);
      if (name.endsWith(".ok.gradus.yaml")) {
        assert.deepEqual(
          diagnostics.filter(({ severity }) => severity !== "info").map(({ message }) => message),
          [],
        );
        return;
      }
      if (process.env["GRADUS_GOLDEN"] !== undefined) writeFileSync(file, written);
      assert.equal(written, source);
      assert.ok(diagnostics.length > 0, "a firing fixture must fire");
    });
  }

  it("every kind of diagnostic is seen in some fixture", () => {
    const all = readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), "utf8"))
      .join("\n");
    for (const { id } of [...rules, ...structural]) assert.ok(all.includes(`[${id}]`), `${id} fires nowhere`);
  });

  it("no message speaks of schemas or unions", () => {
    for (const name of readdirSync(folder)) {
      for (const { message } of loadConfig(join(folder, name)).diagnostics)
        assert.doesNotMatch(message, /schema|union|zod|undefined|\[object/i);
    }
  });
});
