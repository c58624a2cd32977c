/**
 * Each file in test/fixtures/frameworks/rules/verl says by itself what must be found in it: below a faulty line are
 * `#  ^^^ severity [rule] key: message`, and below what the whole file lacks, at its head. Files called `*.ok.*` are near misses.
 * GRADUS_GOLDEN=1 rewrites the markers, to be read before they are committed.
 */
import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import type { Diagnostic } from "../../../server/config/check/diagnostic.ts";
import { verlRules } from "../../../server/frameworks/trainers/verl/rules/index.ts";
import { annotated, diagnosed, edited, withoutMarkers } from "../../support/frameworkFixture.ts";

const folder = resolve("test/fixtures/frameworks/rules/verl");
const fixtures = readdirSync(folder).filter((name) => /\.(yaml|sh)$/.test(name));
function findings(file: string, text: string): readonly Diagnostic[] {
  const found = diagnosed(file, text);
  assert.ok(found !== undefined, `${file} is no configuration of verl's`);
  return found;
}

const count = (found: readonly Diagnostic[], rule: string): number =>
  found.filter((one) => one.rule === rule).length;

describe("rules of verl", () => {
  for (const name of fixtures) {
    it(name, () => {
      const file = join(folder, name);
      const source = readFileSync(file, "utf8");
      const text = withoutMarkers(source);
      const found = findings(file, text);
      if (name.includes(".ok.")) {
        assert.deepEqual(
          found.map(({ rule, message }) => `${rule}: ${message}`),
          [],
        );
        return;
      }

      const written = annotated(text, found);
      if (process.env["GRADUS_GOLDEN"] !== undefined) writeFileSync(file, written);
      assert.equal(written, source);
      assert.ok(found.length > 0, "a firing fixture must fire");
    });
  }

  it("every fix removes its diagnostic, and breaks nothing", () => {
    for (const name of fixtures.filter((one) => !one.includes(".ok."))) {
      const file = join(folder, name);
      const bare = withoutMarkers(readFileSync(file, "utf8"));
      const found = findings(file, bare);
      for (const { rule, fixes } of found)
        for (const { title, edits } of fixes) {
          // A pinned release makes an error of a note.
          if (title.startsWith("Pin ")) continue;
          const after = findings(file, edited(bare, edits));
          assert.ok(count(after, rule) < count(found, rule), `${name}: “${title}” leaves ${rule}`);
        }
    }
  });

  it("a pinned release makes an error of what is only said where nothing names one", () => {
    for (const [name, rule] of [
      ["legacyReward.sh", "verl-legacy-reward"],
      ["unreadAdapter.sh", "verl-unread"],
    ] as const) {
      const file = join(folder, name);
      const bare = withoutMarkers(readFileSync(file, "utf8"));
      const [said] = findings(file, bare).filter((one) => one.rule === rule);
      const pin = said?.fixes.find(({ title }) => title === "Pin verl 0.9.1");
      assert.deepEqual([said?.severity, pin?.preferred], ["info", false]);
      const [sure] = findings(file, edited(bare, pin?.edits ?? [])).filter((one) => one.rule === rule);
      assert.equal(sure?.severity, "error");
    }
  });

  it("every rule is seen to fire, and to stay silent nearby", () => {
    const texts = fixtures.map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));
    for (const { id } of verlRules) {
      const firing = texts.filter(({ text }) => text.includes(`[${id}]`));
      assert.ok(firing.length > 0, `${id} fires nowhere`);
      assert.ok(
        firing.some(({ name }) => texts.some((other) => other.name === name.replace(".", ".ok."))),
        `${id} has no near miss`,
      );
    }
  });

  it("no rule speaks of numbers that are none", () => {
    for (const name of fixtures)
      assert.doesNotMatch(readFileSync(join(folder, name), "utf8"), /NaN|undefined|Infinity|\[object/);
  });
});
