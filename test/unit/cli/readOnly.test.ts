/** A store that no one may write to can be looked at, and stays as it is. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readOnly } from "../../../server/cli/runs/readOnly.ts";
import { runFolder } from "../../../server/store/files.ts";
import { ask } from "../../../shared/daemon/request.ts";
import {
  metricsSeries,
  rolloutsQuery,
  runsControl,
  runsList,
  runsShow,
} from "../../../shared/protocol/protocol.ts";
import { end, start } from "../log/sample.ts";
import { plain, write } from "../store/support.ts";

const listing = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .sort()
    .map((name) => `${name} ${statSync(join(folder, name)).mtimeMs}`);

test("runs of a read-only store are listed, shown and read, and nothing is written", async () => {
  const base = mkdtempSync(join(tmpdir(), "gradus-readonly-"));
  const store = join(base, ".gradus");
  try {
    write(store, "one", 0, [[[start()], -1], ...plain(0, 4), [[end(3)], 3]]);
    write(store, "two", 0, [[[start()], -1], ...plain(0, 2)]);
    mkdirSync(runFolder(store, "two"), { recursive: true });
    const dead = { pid: 2 ** 22 + 1, processStart: "1", attempt: 0, startedAt: "", version: "0" };
    writeFileSync(join(runFolder(store, "two"), "worker.json"), JSON.stringify(dead));
    const before = listing(base);
    const reader = readOnly(store);
    const { runs } = await ask(reader, runsList, {});
    assert.deepEqual(runs.map(({ id, status }) => [id, status]).sort(), [
      ["one", "finished"],
      ["two", "interrupted"],
    ]);
    assert.equal((await ask(reader, runsShow, { run: "one" })).step, 3);
    const { series } = await ask(reader, metricsSeries, { run: "one", metrics: ["reward/total"] });
    assert.equal(series[0]?.steps.length, 4);
    assert.equal((await ask(reader, rolloutsQuery, { run: "one" })).total, 8);
    await assert.rejects(ask(reader, runsControl, { run: "one", action: "stop" }), /cannot be written/);
    reader.close();
    assert.deepEqual(listing(base), before);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
});
