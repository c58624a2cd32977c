/**
 * The files of test/fixtures/frameworks/rules/keys, which the pages of the rules show, say by themselves what is found in
 * them. GRADUS_GOLDEN=1 rewrites the markers, to be read before they are committed.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { rulePageFile } from "../../../server/config/text/rulePages.ts";
import { keyRules } from "../../../server/frameworks/check/keyRules.ts";
import { annotated, diagnosed, withoutMarkers } from "../../support/frameworkFixture.ts";

const folder = "test/fixtures/frameworks/rules/keys";
const stem = (id: string): string =>
  id.replace("foreign-", "").replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

const fixtureOf = (name: string): string => {
  const script = join(folder, `${name}.sh`);
  return existsSync(script) ? script : join(folder, `${name}.yaml`);
};

describe("rules of keys and values", () => {
  for (const { id } of keyRules) {
    it(`${id} fires where its page says so`, () => {
      const file = fixtureOf(stem(id));
      const source = readFileSync(file, "utf8");
      const text = withoutMarkers(source);
      const found = diagnosed(file, text) ?? [];
      const written = annotated(text, found);
      if (process.env["GRADUS_GOLDEN"] !== undefined) writeFileSync(file, written);
      assert.equal(written, source);
      assert.ok(found.some(({ rule }) => rule === id));
    });
    it(`${id} is silent about its near miss`, () => {
      const file = fixtureOf(`${stem(id)}.ok`);
      assert.deepEqual(diagnosed(file, readFileSync(file, "utf8")), []);
    });
    it(`${id} has a page`, () => assert.ok(rulePageFile(id) !== undefined));
  }
});
