/** A database that cannot grow by a page, as on a full disk. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { UserError } from "../../../shared/lib/errors.ts";
import { inWords } from "../../../server/store/drivers/fullDisk.ts";
import type { Store } from "../../../server/store/store.ts";
import { writeCollapsedRun } from "../../support/collapsedRun.ts";
import { ingestWhole, newStore } from "./support.ts";

/** No page more, and the last one, where the run's verdict belongs, without room for a byte. @returns what SQLite says then */
function fill(store: Store): unknown {
  const database = store["database"];
  database.pragma("max_page_count = 1");
  const insert = database.prepare("INSERT INTO verdict VALUES (?, '', ?)");
  let [n, said]: [number, unknown] = [0, undefined];
  for (const size of [1024, 64, 0])
    for (said = undefined; said === undefined; n++)
      try {
        insert.run(`ballast-${String(n).padStart(6, "0")}`, "x".repeat(size));
      } catch (error) {
        said = error;
      }
  return said;
}

test("on a full disk a run's verdict is found and shown, though it cannot be kept", () => {
  const { folder, store } = newStore();
  const id = writeCollapsedRun(folder, join(folder, "..", "starter.gradus.yaml"));
  store.scan();
  ingestWhole(store, id);
  fill(store);
  for (let again = 0; again < 2; again++)
    assert.equal(store.queries.list({ limit: 1 }).runs[0]?.verdict?.state, "collapsed");
});

test("what SQLite says of a full disk becomes a sentence that names the store and what to do", () => {
  const { folder, store } = newStore();
  const said = inWords(folder, fill(store));
  assert.ok(said instanceof UserError);
  assert.ok(said.message.includes(folder) && !/database/.test(said.message), said.message);
  assert.match(String(said.detail.action), /Free some space/);
});
