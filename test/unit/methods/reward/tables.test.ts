/** Results of queries against each other, with values by hand; queries in the sandbox, as a tool and as a reward. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Cell, Table } from "../../../../server/lib/sandbox/queries.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { tableMatch } from "../../../../server/methods/reward/code/tableMatch.ts";
import { matchedShare, sameTable } from "../../../../server/methods/reward/code/tables.ts";
import { tables } from "../../../../server/methods/tasks/pack/tables.ts";
import { sql } from "../../../../server/methods/tool/sql.ts";
import { scoring } from "../../../support/pythonReward.ts";
import { sandboxProcess } from "../../../support/sandboxProcess.ts";
import { batchOf, made, near } from "../../support.ts";

await sandboxProcess();

const tableOf = (...rows: readonly (readonly Cell[])[]): Table => ({
  columns: (rows[0] ?? ["a"]).map((_, i) => `c${i}`),
  rows: rows.map((row) => [...row]),
  cut: false,
});
const gold = tableOf(["x", 1, 0.5], ["y", 2, 1.5], ["z", 3, 2.5], ["w", 4, 3.5]);

test("the share of the reference's rows and columns that a result has", () => {
  const share = (own: Table, off = 5): number => matchedShare(gold, own, off);
  // Other order of rows and of columns.
  assert.equal(share(tableOf([2, "y", 1.5], [1, "x", 0.5], [4, "w", 3.5], [3, "z", 2.5])), 1);
  // Two of three columns; a third decimal counts, a fourth does not.
  assert.ok(near(share(tableOf(["x", 1], ["y", 2], ["z", 3], ["w", 4])), 2 / 3));
  assert.ok(near(share(tableOf(["x", 0.5001], ["y", 1.5], ["z", 2.5], ["w", 3.5])), 2 / 3));
  assert.ok(near(share(tableOf(["x", 0.51], ["y", 1.5], ["z", 2.5], ["w", 3.5])), 1 / 3));
  // A column counts once: the second copy has none of its own.
  assert.ok(near(matchedShare(tableOf(["x", "x"]), tableOf(["x", "y"]), 5), 1 / 2));
  // Longer by one: the rows of the reference's keys are kept. Shorter by two: 2 of 4 rows, 3 of 3 columns.
  assert.equal(share(tableOf(["x", 1, 0.5], ["y", 2, 1.5], ["z", 3, 2.5], ["w", 4, 3.5], ["v", 5, 4.5])), 1);
  assert.ok(near(share(tableOf(["x", 1, 0.5], ["z", 3, 2.5])), 1 / 2));
  assert.ok(near(share(tableOf(["x"], ["z"])), 1 / 6));
  assert.equal(share(tableOf(["x", 1, 0.5], ["z", 3, 2.5]), 1), 0, "shorter by more than may be");
  assert.equal(share(tableOf(["x", 1, 0.5], ["q", 3, 2.5])), 0, "a key that the reference does not have");
  const nothing: Table = { columns: ["a"], rows: [], cut: false };
  assert.equal(matchedShare(nothing, nothing, 5), 1);
  assert.equal(matchedShare(nothing, tableOf([1]), 5), 0);
  assert.ok(sameTable(gold, { ...gold, rows: gold.rows.toReversed() }));
  assert.ok(!sameTable(gold, tableOf(["x", 1], ["y", 2], ["z", 3], ["w", 4])));
  assert.ok(!sameTable(tableOf([1], [1]), tableOf([1])), "how often a row comes counts");
});

const schema = "CREATE TABLE t (a TEXT, n INTEGER); INSERT INTO t VALUES ('x', 1), ('y', 2), (NULL, 3);";
const task = { id: "t", source: "t", env: "tables", prompt: "", data: { schema, sql: "SELECT a, n FROM t" } };
const tool = made(sql, { rows: 2, seconds: 5 });
const term = made(tableMatch, {});
const strict = made(tableMatch, { value: "same", tag: "answer", seconds: 5 });
after(() => Promise.all([tool.close?.(), term.close?.(), strict.close?.()]));

test("a query reads rows, and a failing, writing, endless or second one is a text for the policy", async () => {
  const [one] = await tool.open();
  const ask = (query: string): Promise<string> => one!.call({ query }, { episode: "e", task });
  assert.equal(await ask("SELECT a, n FROM t WHERE n > 1"), "a | n\ny | 2\nNULL | 3");
  assert.match(await ask("SELECT n FROM t"), /^n\n1\n2\n\(more than 2 rows/);
  assert.equal(await ask("SELECT n FROM t WHERE n > 9"), "n\n(no rows)");
  assert.match(await ask("SELECT nope FROM t"), /^Error: no such column: nope/);
  for (const query of [
    "DELETE FROM t",
    "DELETE FROM t RETURNING a",
    "PRAGMA database_list",
    "DROP TABLE t",
    "ATTACH DATABASE '/tmp/a.sqlite' AS other",
    "PRAGMA writable_schema = 1",
    "SELECT 1; DELETE FROM t",
    "CREATE TABLE u (a)",
  ])
    assert.match(await ask(query), /^Error: /, query);
  assert.equal(await ask("SELECT COUNT(*) AS c FROM t"), "c\n3", "nothing was changed");
  const quick = made(sql, { seconds: 1 });
  const [hasty] = await quick.open();
  const endless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT COUNT(*) FROM r";
  assert.match(await hasty!.call({ query: endless }, { episode: "e", task }), /^Error: the query /);
  assert.match(await hasty!.call({ query: "SELECT 1" }, { episode: "e", task }), /1/, "and it goes on");
  await quick.close?.();
  await assert.rejects(
    one!.call({ query: "SELECT 1" }, { episode: "e", task: { ...task, data: {} } }),
    /needs the SQL/,
  );
});

test("the reward of a query is that of its result", async () => {
  const scored = async (on: typeof term, responses: readonly string[], own = task): Promise<unknown[]> => {
    const rows = responses.map((response, index) => ({ step: 0, group: "g", index, response, task: own }));
    return (await on.score(batchOf(rows), scoring())).map((one) => ("value" in one ? one.value : one));
  };
  assert.deepEqual(
    await scored(term, [
      "So:\n```sql\nSELECT 1\n```\nno,\n```sql\nSELECT n, a FROM t\n```",
      "SELECT a FROM t",
      "SELECT 7, 8, 9",
      "SELECT nope FROM t",
      "I do not know.",
    ]),
    [10, 5, 0.5, 0, 0],
  );
  assert.deepEqual(
    await scored(strict, [
      "<answer>SELECT a, n FROM t ORDER BY n DESC</answer>",
      "<answer>SELECT n FROM t</answer>",
      "SELECT a, n FROM t",
    ]),
    [1, 0, 0],
  );
  const [broken] = await scored(term, ["SELECT 1"], { ...task, data: { schema, sql: "SELECT nope" } });
  assert.match(JSON.stringify(broken), /the reference query fails: no such column/);
});

test("tasks over tables are their ids' alone, and their written solutions have full marks", async () => {
  const source = made(tables, {});
  const drawn = source.values.flatMap((value) =>
    [0, 1, 2].map((i) => source.draw("train", value, randomStream(5, value, i))!),
  );
  assert.deepEqual(source.values, ["filter", "order", "group", "join"]);
  const rows = drawn.map((own, index) => ({
    ...{ step: 0, group: own.id, index, task: own },
    response: own.solution!,
  }));
  const values = await term.score(batchOf(rows), scoring());
  assert.ok(
    values.every((one) => "value" in one && one.value === 10),
    JSON.stringify(values),
  );
  for (const [i, own] of drawn.entries())
    assert.deepEqual(
      source.draw("train", source.valueOf(own), randomStream(5, source.valueOf(own)!, i % 3)),
      own,
    );
});
