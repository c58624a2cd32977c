/**
 * Files of test/fixtures/frameworks/rules/{trl,openrlhf} say by themselves what must be found in them; those called
 * `*.ok.*` are near misses. GRADUS_GOLDEN=1 rewrites the markers, to be read before they are committed.
 */
import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import type { Diagnostic } from "../../../server/config/check/diagnostic.ts";
import { openrlhfRules } from "../../../server/frameworks/trainers/openrlhf/rules/index.ts";
import { trlRules } from "../../../server/frameworks/trainers/trl/rules/index.ts";
import { annotated, diagnosed, edited, withoutMarkers } from "../../support/frameworkFixture.ts";

/** It depends on what is installed: installed.test.ts. */
const elsewhere = new Set(["trl-transformers"]);
const camel = (id: string): string =>
  id.replace(/^\w+-/, "").replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Files are called by the rule, and what is special: `trainBatchRing.ok.sh`. */
const ruleAmong = (ids: readonly string[], name: string): string | undefined =>
  ids.filter((id) => new RegExp(`^${camel(id)}(?=[A-Z.])`).test(name)).sort((a, b) => b.length - a.length)[0];
const count = (found: readonly Diagnostic[], rule: string): number =>
  found.filter((one) => one.rule === rule).length;
const errors = (found: readonly Diagnostic[]): number =>
  found.filter(({ severity }) => severity === "error").length;

for (const [framework, rules] of [
  ["trl", trlRules],
  ["openrlhf", openrlhfRules],
] as const) {
  const folder = resolve("test/fixtures/frameworks/rules", framework);
  const ids = rules.map(({ id }) => id);
  const ruleOf = (name: string): string => ruleAmong(ids, name) ?? "";
  // The others are files that fixtures name.
  const fixtures = readdirSync(folder).filter((name) => ruleOf(name) !== "");
  const firing = fixtures.filter((name) => !name.includes(".ok."));
  const silent = fixtures.filter((name) => name.includes(".ok."));
  const read = (name: string): { file: string; source: string; text: string } => {
    const file = join(folder, name);
    const source = readFileSync(file, "utf8");
    return { file, source, text: withoutMarkers(source) };
  };

  describe(`rules of ${framework}`, () => {
    for (const name of firing) {
      it(name, () => {
        const { file, source, text } = read(name);
        const found = diagnosed(file, text);
        assert.ok(found !== undefined, "it is not recognised");
        const written = annotated(text, found);
        if (process.env["GRADUS_GOLDEN"] !== undefined) writeFileSync(file, written);
        assert.equal(written, source);
        assert.ok(count(found, ruleOf(name)) > 0, "a firing fixture must fire");
      });
    }

    for (const name of silent) {
      it(name, () => {
        const { file, text } = read(name);
        const found = diagnosed(file, text);
        assert.ok(found !== undefined, "it is not recognised");
        const heard = found.filter(({ severity, rule }) => severity !== "info" || rule === ruleOf(name));
        assert.deepEqual(
          heard.map(({ rule, message }) => `${rule}: ${message}`),
          [],
        );
      });
    }

    it("every rule fires in a fixture and stays silent in a near miss", () => {
      for (const { id } of rules.filter((rule) => !elsewhere.has(rule.id))) {
        assert.ok(
          firing.some((name) => ruleOf(name) === id),
          `${id} fires nowhere`,
        );
        assert.ok(
          silent.some((name) => ruleOf(name) === id),
          `${id} has no near miss`,
        );
      }
    });

    it("every fix removes its diagnostic, and breaks nothing", () => {
      for (const name of firing) {
        const { file, text } = read(name);
        const found = diagnosed(file, text) ?? [];
        for (const { rule, fixes } of found) {
          for (const { title, edits } of fixes) {
            const after = diagnosed(file, edited(text, edits)) ?? [];
            assert.ok(count(after, rule) < count(found, rule), `${name}: "${title}" does not mend ${rule}`);
            assert.ok(errors(after) <= errors(found), `${name}: "${title}" breaks something else`);
          }
        }
      }
    });

    it("has one rule an id, and each says why", () => {
      assert.equal(new Set(rules.map(({ id }) => id)).size, rules.length);
      for (const { id, why, title } of rules) {
        assert.ok(id.startsWith(`${framework}-`) && title !== "" && !title.endsWith("."), id);
        assert.match(why, /\.$/, id);
      }
    });
  });
}
