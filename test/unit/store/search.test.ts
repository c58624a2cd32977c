/** Answers by what they hold: the index, its upkeep, and the ways to ask. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Store } from "../../../server/store/store.ts";
import { snippetOf } from "../../../server/store/search/snippet.ts";
import { tokensOf, wantedOf } from "../../../server/store/search/searchText.ts";
import { openAttempt } from "../../../shared/log/writer.ts";
import { runFolder } from "../../../server/store/files.ts";
import { end, start } from "../log/sample.ts";
import { ingestWhole, newStore } from "./support.ts";

const answers = [
  "The quick brown fox jumps over the lazy dog",
  "Quick silver; brown sugar",
  "Füchse sind flink, sagt der Bär",
  "so 3 + 4 = 7, and 7 * 2 = 14. </answer>",
  `${"filler ".repeat(200)}needle at the end`,
];

function filled(run: string, store: Store, folder: string, texts: readonly string[] = answers): void {
  const log = openAttempt(runFolder(folder, run), 0);
  log.append({ ...start(0, null, run), run } as ReturnType<typeof start>);
  log.commit(-1);
  texts.forEach((response, step) => {
    const row = { step, group: "g", index: 0, response, reward: step };
    log.append({ kind: "rollout", step, index: 0, row, columns: {} });
    log.commit(step);
  });
  log.append(end(texts.length));
  log.commit(texts.length);
  log.close();
  ingestWhole(store, run);
}
function ask(
  store: Store,
  text: string,
  more: { run?: string; where?: string; limit?: number; after?: string } = {},
) {
  store.texts.make();
  while (store.texts.next());
  const slices = store.searches.search({ limit: 50, ...more, text });
  for (;;) {
    const slice = slices.next();
    if (slice.done === true) return slice.value;
  }
}
const steps = (found: ReturnType<typeof ask>) => found.hits.map(({ step }) => step);

test("words, phrases, beginnings, without, expressions; of a run, by where, in pages", () => {
  const { folder, store } = newStore();
  filled("a-run", store, folder);
  filled("b-run", store, folder, ["another quick one"]);
  assert.deepEqual(steps(ask(store, "quick brown", { run: "a-run" })), [1, 0]);
  assert.deepEqual(steps(ask(store, '"quick brown"')), [0]);
  assert.deepEqual(steps(ask(store, "QUI*", { run: "a-run" })), [1, 0]);
  assert.deepEqual(steps(ask(store, "quick -fox", { run: "a-run" })), [1]);
  assert.deepEqual(steps(ask(store, "fuchse bar")), [2]);
  assert.deepEqual(steps(ask(store, "quick", { where: "reward > 0" })), [1]);
  assert.deepEqual(
    ask(store, "quick").hits.map(({ run }) => run),
    ["b-run", "a-run", "a-run"],
  );
  const found = ask(store, "needle");
  assert.equal(found.how, "index");
  const { text, marks } = found.hits[0]!.snippet;
  assert.deepEqual(
    marks.map(([from, to]) => text.slice(from, to)),
    ["needle"],
  );
  assert.ok(text.startsWith("…") && text.length < 260);
  const scan = ask(store, String.raw`/\d \* \d = (\d+)/`);
  assert.deepEqual([scan.how, steps(scan)], ["scan", [3]]);
  const [mark] = scan.hits[0]!.snippet.marks;
  assert.equal(scan.hits[0]!.snippet.text.slice(...mark!), "7 * 2 = 14");
  const first = ask(store, "quick", { limit: 2 });
  assert.deepEqual([first.total, first.atLeast, first.hits.length], [3, false, 2]);
  const second = ask(store, "quick", { limit: 2, after: first.next! });
  assert.deepEqual([steps(second), second.next], [[0], null]);
  assert.deepEqual(steps(ask(store, "/quick|Füchse/i", { limit: 2, run: "a-run" })), [2, 1]);
});

test("what is typed is never the index's own syntax, and an expression that runs away is ended", () => {
  const { folder, store } = newStore();
  filled("a-run", store, folder, ["near column", `${"a".repeat(60)}b`]);
  for (const text of ["NEAR(", "response:near", "near AND", "x OR y", "^near", '"near', "near)"])
    assert.doesNotThrow(() => ask(store, text), text);
  assert.throws(() => ask(store, "-near"), /no word to look for/);
  assert.throws(() => ask(store, "/(/"), /cannot be read/);
  assert.throws(() => ask(store, "/^(a+)+$/"), /takes too long/);
});

test("rows that come are found, those that go are not, and a number that is used again is not mistaken", () => {
  const { folder, store } = newStore();
  filled("a-run", store, folder);
  assert.equal(ask(store, "needle").total, 1);
  filled("b-run", store, folder, ["a second needle"]);
  assert.equal(ask(store, "needle").total, 2);
  store.forgetRun("b-run");
  while (store.purge("b-run"));
  assert.equal(ask(store, "needle").total, 1);
  filled("c-run", store, folder, ["nothing of it", "yet a needle"]);
  assert.deepEqual(
    ask(store, "needle").hits.map(({ run, step }) => [run, step]),
    [
      ["c-run", 1],
      ["a-run", 4],
    ],
  );
  assert.deepEqual(store.texts.progress(), { done: 7, of: 7 });
});

test("tokens are cut as the index cuts them; a snippet begins at a word", () => {
  assert.deepEqual(
    tokensOf("Éa, b-c_d").map(({ word }) => word),
    ["ea", "b", "c", "d"],
  );
  const wanted = wantedOf('foo "bar baz" qu* -no');
  assert.ok(wanted.kind === "words");
  assert.equal(wanted.match, '("foo" AND "bar baz" AND "qu" *) NOT ("no")');
  const snippet = snippetOf(`${"word ".repeat(50)}here`, [[250, 254]]);
  assert.ok(snippet.text.startsWith("…word "));
});
