import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { formerPresets, listPapers } from "../../../server/config/papers.ts";
import { listPresets, presetNamed } from "../../../server/config/presets.ts";
import { missing } from "../../support/frozen.ts";

const papers = listPapers();

test("every paper of a preset is a title of papers/papers.yaml", () => {
  const titles = new Set(papers.map(({ title }) => title));
  for (const { id, papers: named } of listPresets())
    assert.deepEqual(missing(named, titles), [], `the preset ${id} names papers that are not in the list`);
});

test("papers/papers.yaml has every title once, in alphabetical order", () => {
  const titles = papers.map(({ title }) => title.toLowerCase());
  assert.deepEqual(titles, [...new Set(titles)].sort());
});

test("an arXiv id belongs to one paper and has the form of one", () => {
  const ids = papers.flatMap(({ arxiv }) => arxiv ?? []);
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert.match(id, /^\d{4}\.\d{4,5}$/);
});

test("a paper has a preset or a command that serves it, or a sentence why there is nothing to do", () => {
  for (const { title, presets, commands, status, follows } of papers) {
    assert.ok(follows !== undefined, `${title}: ${status}`);
    assert.equal(presets.length + commands.length > 0, status !== "none", title);
  }
});

test("the papers that were covered before are covered still", () => {
  const covered = papers.flatMap(({ title, status }) => (status === "none" ? [] : title));
  const before = readFileSync("test/fixtures/papers/covered.txt", "utf8").split("\n").filter(Boolean);
  assert.ok(before.length > 150);
  assert.deepEqual(missing(before, covered), []);
});

test("the id of a placeholder is no preset, and its entry says what replaces it", () => {
  assert.ok(formerPresets().length > 0);
  for (const id of formerPresets()) assert.equal(presetNamed(id), undefined, id);
});
