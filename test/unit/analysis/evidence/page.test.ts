import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { kinds } from "../../../../server/analysis/evidence/index.ts";
import { evidencePage } from "../../../../server/analysis/evidence/page.ts";

test("docs/evidence.md describes every kind of evidence, each at its own place", () => {
  const page = readFileSync("docs/evidence.md", "utf8");
  const told = [...page.matchAll(/<a id="([\w-]+)"><\/a>`([\w-]+)`/g)].map(([, anchor, name]) => {
    assert.equal(anchor, name);
    return name;
  });
  assert.deepEqual(told.toSorted(), kinds.map(({ id }) => id).toSorted());
});

test("a diagnostic's id leads to its place on the page", () => {
  assert.match(evidencePage("run-truncated") ?? "", /^file:.*\/docs\/evidence\.md#run-truncated$/);
  assert.equal(evidencePage("group-size"), undefined);
});
