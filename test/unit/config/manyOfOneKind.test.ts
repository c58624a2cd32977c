/** A config with very many of one kind takes work in proportion, to check and to fix: counted at n, 2n and 4n. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { SourceEdits } from "../../../server/config/text/edits.ts";
import { parseSource } from "../../../server/config/text/source.ts";
import { applyEdits } from "../../../server/config/text/textEdits.ts";
import { preferredFixes } from "../../../server/rules/fixAll.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import { many } from "../../support/manyOfOneKind.ts";
import { growthOf } from "../../support/steps.ts";

const file = join(process.cwd(), "many.gradus.yaml");

for (const [what, text] of Object.entries(many)) {
  test(`${what}: twice as many take twice the work`, () => {
    // What is made once a process is made.
    loadConfig(file, { text: text(10) });
    const growth = growthOf((size) => loadConfig(file, { text: text(size) }), 800);
    assert.ok(growth < 2.4, `the second half takes ${growth.toFixed(2)} times the first`);
  });
}

/** Far fewer rules look at these: what is done for each of all pairs is seen at this size. */
test("the fixes of twice as many items are twice the work, to make and to choose", () => {
  const removals = (size: number) => {
    const text = many["stages that change nothing"]!(size);
    const { root } = parseSource(file, text, { file, folder: "/", via: [], layer: "file" });
    const edits = new SourceEdits(text, root);
    return Array.from({ length: size }, (_, i) => edits.remove(["stages", `s${i}`], "Remove", true));
  };
  const growth = growthOf(removals, 800);
  assert.ok(growth < 2.4, `the second half takes ${growth.toFixed(2)} times the first`);
  const fixes = removals(800).map((fix) => ({ fixes: [fix!, fix!] }));
  const chosen = growthOf((size) => preferredFixes([...fixes.slice(0, size), ...fixes.slice(0, size)]), 800);
  assert.ok(chosen < 2.4, `the second half takes ${chosen.toFixed(2)} times the first`);
});

test("edits of one text are applied in the order of their places, those of one place last first", () => {
  const at = (start: number, end: number, newText: string) => ({
    range: { start: { line: 0, character: start }, end: { line: 0, character: end } },
    newText,
  });
  assert.equal(applyEdits("abcdef", [at(4, 5, "E"), at(0, 1, ""), at(2, 2, "x"), at(2, 2, "y")]), "byxcdEf");
  assert.equal(applyEdits("abc", []), "abc");
});
