/** A text that is parsed in pieces gives the very tree that the parser makes of the whole, or none. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { longConfig } from "../../../bench/longConfig.ts";
import type { SourceNode } from "../../../server/config/text/node.ts";
import { parsedInPieces } from "../../../server/config/text/pieces.ts";
import { parseSource } from "../../../server/config/text/source.ts";
import { applied, randomEdit } from "../../fuzz/edits.ts";
import { Chance } from "../../fuzz/random.ts";

const base = { file: "/a.gradus.yaml", folder: "/", via: [], layer: "file" } as const;

function shown(node: SourceNode): unknown {
  const { range } = node.origin;
  if (node.kind === "scalar") return [range, node.value];
  if (node.kind === "list") return [range, node.items.map(shown)];
  return [range, [...node.entries].map(([key, { key: at, value }]) => [key, at.range, shown(value)])];
}

/** Whether the pieces were enough. */
function compare(text: string): boolean {
  const whole = parseSource(base.file, text, base);
  const pieces = parsedInPieces(base.file, text, base);
  if (pieces === undefined) return false;
  assert.deepEqual(whole.diagnostics, [], text);
  assert.deepEqual(shown(pieces.root), whole.root && shown(whole.root), text);
  return true;
}

const presets = readdirSync("presets")
  .filter((name) => name.endsWith(".yaml"))
  .map((name) => readFileSync(join("presets", name), "utf8"));
const long = longConfig(120).join("\n");

describe("parsing in pieces", () => {
  it("is enough for plain configs, and says what the parser says", () => {
    assert.ok(compare(`${long}\n`));
    assert.ok(presets.filter(compare).length > 0.9 * presets.length);
  });

  it("moves what has not changed", () => {
    assert.ok(compare(long));
    assert.ok(compare(`# one more line\n\n${long}`));
    assert.ok(compare(long.replace("    steps: 10\n", "    steps: 10 # ten\n    # and a line\n")));
    assert.ok(compare(long.replaceAll("\n", "\r\n")));
  });

  it("leaves to the parser what it does not see through", () => {
    for (const text of [
      "a: 1\na: 2\n",
      "a: &x 1\nb: *x\n",
      "a: 1\n---\nb: 2\n",
      "a: [1,\n2]\n",
      "- a\n- b\n",
      "a: 1\n...\nb: 2\n",
      "? a\n: b\n",
      "{ a: 1 }\n",
      "a: 'x\nb: y'\n",
      "a:\n  - b\n - c\n",
    ])
      assert.ok(!compare(text), text);
  });

  it("gives the same or nothing after random edits", () => {
    const chance = new Chance(7);
    let enough = 0;
    for (let round = 0; round < 300; round++) {
      let text = chance.of([long, ...presets]);
      for (let edit = chance.below(3); edit >= 0; edit--)
        text = applied(text, randomEdit(text, chance, presets));
      if (compare(text)) enough += 1;
    }
    assert.ok(enough > 60, String(enough));
  });
});
