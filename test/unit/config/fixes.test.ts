/**
 * Every fix of every fixture's diagnostics, applied: the diagnostic is gone and there is no error that was not there before.
 * And all sensible fixes at once leave nothing that a second time would change.
 */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import type { Diagnostic } from "../../../server/config/check/diagnostic.ts";
import { engineKeys } from "../../../server/frameworks/lens/engineKeys.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import { fixAll } from "../../../server/rules/fixAll.ts";
import { rules } from "../../../server/rules/index.ts";
import { applyEdits } from "../../../server/config/text/textEdits.ts";
import { some } from "../../support/thorough.ts";

const folder = resolve("test/fixtures/config/rules");
const firing = readdirSync(folder).filter(
  (name) => name.endsWith(".gradus.yaml") && !name.endsWith(".ok.gradus.yaml"),
);
const textOf = (name: string): string =>
  readFileSync(join(folder, name), "utf8")
    .split("\n")
    .filter((line) => !/^#\s*<?\^/.test(line))
    .join("\n");

const same = (a: Diagnostic, b: Diagnostic): boolean => a.rule === b.rule && a.message === b.message;
const check = (file: string, text: string): readonly Diagnostic[] =>
  loadConfig(file, { text, engineKeys }).diagnostics;

describe("mends", () => {
  for (const name of some(firing, 30)) {
    const file = join(folder, name);
    const text = textOf(name);
    const found = check(file, text);
    for (const finding of found)
      for (const fix of finding.fixes)
        it(`${name.replace(".gradus.yaml", "")}: ${finding.rule}: ${fix.title}`, () => {
          const after = check(file, applyEdits(text, fix.edits));
          const count = (list: readonly Diagnostic[]): number =>
            list.filter((one) => same(one, finding)).length;
          assert.ok(count(after) < count(found), "the finding is still there");
          const fresh = after.filter(
            (one) =>
              one.severity === "error" &&
              !found.some(({ rule, key }) => rule === one.rule && key === one.key),
          );
          // Where nothing but the fixed value kept the rest from being looked at, the rest may have diagnostics of its own.
          if (loadConfig(file, { text }).readable)
            assert.deepEqual(
              fresh.map(({ message }) => message),
              [],
            );
        });
    it(`${name.replace(".gradus.yaml", "")}: all at once, and then no more`, () => {
      const once = fixAll(file, text, { engineKeys });
      assert.equal(fixAll(file, once, { engineKeys }), once);
      if (found.some(({ fixes }) => fixes.some(({ preferred }) => preferred === true)))
        assert.notEqual(once, text);
    });
  }

  it("every rule has a fix, but those that only a person can fix", () => {
    const mended = new Set(
      firing.flatMap((name) =>
        check(join(folder, name), textOf(name)).flatMap(({ rule, fixes }) =>
          fixes.length > 0 ? [rule] : [],
        ),
      ),
    );
    const without = rules.filter(({ id }) => !mended.has(id)).map(({ id }) => id);
    assert.deepEqual(without.sort(), [
      "curriculum-gap",
      "environment",
      "eval-overlap",
      "grammar-regex",
      // A person saves the model again, or chooses another; what would fit is in the message.
      "model-content",
      "model-memory",
      "own-process-tests",
      // What is wrong is in the data, or a longer prompt costs memory.
      "prompt-length",
      "repeated-prompt",
      "split-leak",
      // Which tasks, or another stage.
      "stage-solutions",
      // Which model, or how long a warm-up.
      "untrained-policy",
      "untrained-reference",
    ]);
  });
});
