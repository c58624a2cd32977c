import assert from "node:assert/strict";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { groupsQuery } from "../../../shared/protocol/protocol.ts";
import { openAttempt, segmentPath } from "../../../shared/log/writer.ts";
import { openDatabase } from "../../../server/store/drivers/driver.ts";
import { databasePath, runFolder } from "../../../server/store/files.ts";
import { packEvery } from "../../../server/store/ingest/points.ts";
import { Store } from "../../../server/store/store.ts";
import {
  acknowledge,
  checkpoint,
  end,
  evaluation,
  event,
  metrics,
  stage,
  start,
  type Written,
} from "../log/sample.ts";
import { close, newFolder, newStore, plain, values, write } from "./support.ts";

test(
  "a store's database is its owner's alone, also one that was readable by others",
  { skip: process.platform === "win32" },
  () => {
    const { folder, store, open } = newStore();
    close(store);
    chmodSync(databasePath(folder), 0o644);
    const again = open();
    for (const name of readdirSync(folder).filter(
      (one) => one.startsWith("store.sqlite") && !one.endsWith("hold"),
    ))
      assert.equal(statSync(join(folder, name)).mode & 0o077, 0, name);
    close(again);
  },
);

test("a checkpoint's path is shown as recorded where it is absolute", () => {
  const { folder, store } = newStore();
  const path = join(runFolder(folder, "a"), "checkpoints/0");
  write(folder, "a", 0, [
    [[start()], -1],
    [[...(plain(0, 1)[0]?.[0] ?? []), { kind: "checkpoint", step: 0, path, bytes: 7 }], 0],
  ]);
  store.ingestAll("a");
  assert.deepEqual(store.queries.show({ run: "a" }).checkpoints, [{ step: 0, path, bytes: 7 }]);
});

test("SQLite is refused on the main thread", () => {
  assert.throws(() => openDatabase(":memory:"), /main thread/);
});

test("a run enters the store once, whatever the number of reads, and is shown as it was written", () => {
  const { folder, store } = newStore();
  write(folder, "a", 0, [
    [[start()], -1],
    [[stage(0), ...(plain(0, 1)[0]?.[0] ?? []), event(0)], 0],
    ...plain(1, 3),
    [[evaluation(3, "first"), checkpoint(3)], 3],
    [[evaluation(3, "last"), end(3)], 3],
  ]);
  store.ingestAll("a");
  store.ingestAll("a");
  const detail = store.queries.show({ run: "a" });
  assert.equal(detail.status, "finished");
  assert.deepEqual(
    {
      step: detail.step,
      steps: detail.steps,
      stage: detail.stage,
      backend: detail.backend,
      backendReason: detail.backendReason,
    },
    { step: 3, steps: 4, stage: "warm-up", backend: "wasm", backendReason: "test" },
  );
  assert.deepEqual(detail.first, { "eval/pass@1": 0.25, "eval/greedy": 0.5 });
  assert.deepEqual(detail.last, detail.first);
  assert.deepEqual(detail.git, { commit: "0123abc", dirty: true });
  assert.equal(detail.authored, "name: sample\n");
  assert.deepEqual(detail.checkpoints, [
    { step: 3, path: join(runFolder(folder, "a"), "checkpoints/3"), bytes: 1234 },
  ]);
  assert.deepEqual(values(store, "a"), {
    metric: "reward/total",
    steps: [0, 1, 2, 3],
    values: [0, 1 / 7, 2 / 7, 3 / 7],
    total: 4,
  });
  assert.equal(store.queries.rollouts({ run: "a", tokens: false, limit: 100 }).total, 8);
  assert.deepEqual(store.queries.groups(groupsQuery.params.parse({ run: "a", step: 1 })).groups, [
    {
      step: 1,
      group: "task-1",
      task: "countdown 3 4",
      arm: "countdown/3",
      admitted: false,
      reason: "all right",
      successes: 1,
      size: 2,
    },
  ]);
  const [stored] = store.queries.events({ run: "a", limit: 10 }).events;
  assert.deepEqual(
    { name: stored?.name, action: stored?.action, data: stored?.data },
    {
      name: "entropy-low",
      action: "Raise objective.entropy",
      data: { value: 1e-7, list: [1, 2.5e21, null, true] },
    },
  );
  assert.deepEqual(
    store.queries.evaluations({ run: "a" }).evaluations.map(({ role }) => role),
    ["first", "last"],
  );
  assert.deepEqual(store.queries.names({ run: "a" }).names, ["eval/greedy", "eval/pass@1", "reward/total"]);
  assert.throws(() => store.queries.show({ run: "b" }), /no run b/);
});

test("a rollout comes back with its tokens, what does not exist as null", () => {
  const { folder, store } = newStore();
  write(folder, "a", 0, [[[start()], -1], ...plain(0, 1)]);
  store.ingestAll("a");
  const [, row] = store.queries.rollouts({ run: "a", step: 0, tokens: true, limit: 10 }).rollouts;
  assert.deepEqual(row?.tokens, [3, 1, 4, 2]);
  assert.deepEqual(row?.origin, ["given", "written", "written", "written"]);
  assert.deepEqual(row?.logp_old, [null, -0.5, -1.25, -0]);
  assert.deepEqual(row?.logp_new, [null, -0.1, -1e-9, "-Infinity"]);
  assert.deepEqual(row?.rewards, { correct: 1, brevity: "NaN", bonus: null });
  assert.deepEqual(
    { run: row?.run, attempt: row?.attempt, response: row?.response, prompt: row?.prompt },
    { run: "a", attempt: 0, response: '3 + 4\u2028 "x" é 😀 1', prompt: "Make 7 from 3 and 4 →" },
  );
  assert.equal(
    store.queries.rollouts({ run: "a", step: 0, tokens: false, limit: 10 }).rollouts[0]?.tokens,
    undefined,
  );
});

test("texts of a model and of a verifier come back whole, a NUL among them", () => {
  const { folder, store } = newStore();
  const text = "before\0after é";
  write(folder, "a", 0, [
    [[start()], -1],
    [
      [
        {
          kind: "rollout",
          step: 0,
          index: 0,
          row: { step: 0, group: "g", index: 0, prompt: text, response: text, errors: { correct: text } },
          columns: {},
        },
        { kind: "event", step: 0, time: 1, severity: "warning", name: "n", message: text, action: text },
      ],
      0,
    ],
  ]);
  store.ingestAll("a");
  const [row] = store.queries.rollouts({ run: "a", tokens: false, limit: 1 }).rollouts;
  assert.deepEqual(
    { prompt: row?.prompt, response: row?.response, errors: row?.errors },
    { prompt: text, response: text, errors: { correct: text } },
  );
  const [stored] = store.queries.events({ run: "a", limit: 1 }).events;
  assert.deepEqual({ message: stored?.message, action: stored?.action }, { message: text, action: text });
  const where = 'response contains "after"';
  assert.equal(store.queries.rollouts({ run: "a", where, tokens: false, limit: 1 }).total, 1);
});

test("a reader that stops between any two slices, in a store opened again, repeats and misses nothing", () => {
  const { folder, store, open } = newStore();
  const log = openAttempt(runFolder(folder, "a"), 0);
  log.append(start());
  log.commit(-1);
  let current = store;
  for (let step = 0; step < 40; step++) {
    for (const record of plain(step, 1)[0]?.[0] ?? []) log.append(record);
    log.commit(step);
    current.ingest.slice("a");
    if (step % 9 === 0) {
      close(current);
      current = open();
    }
  }
  log.close();
  current.ingestAll("a");
  assert.equal(values(current, "a")?.total, 40);
  assert.equal(current.queries.rollouts({ run: "a", tokens: false, limit: 1 }).total, 80);
});

test("a resumed attempt replaces the steps it trains again; the old tail stays in the file and out of the answers", () => {
  const { folder, store } = newStore();
  write(folder, "a", 0, [[[start()], -1], ...plain(0, 6)]);
  store.ingestAll("a");
  write(folder, "a", 1, [
    [[start(1, 4)], -1],
    [[metrics(4, { "reward/total": 40 })], 4],
    [[metrics(5, { "reward/total": 50 })], 5],
    [[metrics(6, { "reward/total": 60 })], 6],
  ]);
  store.ingestAll("a");
  assert.deepEqual(values(store, "a")?.steps, [0, 1, 2, 3, 4, 5, 6]);
  assert.deepEqual(values(store, "a")?.values.slice(4), [40, 50, 60]);
  assert.equal(store.queries.rollouts({ run: "a", tokens: false, limit: 1 }).total, 8);
  const { attempts, attempt, step, status } = store.queries.show({ run: "a" });
  assert.deepEqual({ attempt, step, status }, { attempt: 1, step: 6, status: "running" });
  assert.deepEqual(
    attempts.map(({ attempt, resumedAt, lastStep }) => [attempt, resumedAt, lastStep]),
    [
      [0, null, 5],
      [1, 4, 6],
    ],
  );
  const raw = openDatabase(join(folder, "store.sqlite"), { anyThread: true, readonly: true }).database;
  assert.deepEqual(raw.prepare("SELECT count(*) AS n FROM rollout").get(), { n: 12 });
  raw.close();
  write(folder, "a", 2, [
    [[start(2, 2)], -1],
    [[metrics(2, { "reward/total": 20 })], 2],
  ]);
  store.ingestAll("a");
  assert.deepEqual(values(store, "a")?.steps, [0, 1, 2]);
});

test("a damaged segment becomes an event, once; a torn one is waited for", () => {
  const { folder, store } = newStore();
  write(folder, "a", 0, [[[start()], -1], ...plain(0, 4)]);
  const path = segmentPath(runFolder(folder, "a"), 0, 0);
  const bytes = readFileSync(path);
  truncateSync(path, bytes.length - 3);
  store.ingestAll("a");
  assert.deepEqual(values(store, "a")?.steps, [0, 1, 2]);
  assert.deepEqual(store.queries.events({ run: "a", limit: 10 }).events, []);
  bytes[bytes.length - 3] = 0;
  writeFileSync(path, bytes);
  store.ingestAll("a");
  store.ingestAll("a");
  const { events } = store.queries.events({ run: "a", limit: 10 });
  assert.deepEqual(
    events.map(({ name, severity }) => [name, severity]),
    [["log/checksum", "error"]],
  );
  const { message, action } = events[0]!;
  assert.ok(message.includes(path));
  assert.match(
    message,
    /damaged at byte \d+.*What attempt 0 logged after step 2 is missing: \d+ bytes of this file\./,
  );
  assert.match(action ?? "", /If you have a complete copy of the file, restore it/);
  const [damaged] = store.queries.show({ run: "a" }).damaged ?? [];
  assert.equal(damaged, `${message} ${action ?? ""}`);
});

test("a run whose process has ended is being read until its end is known; one that starts is starting", () => {
  const { folder, store } = newStore();
  const dead = { pid: 2 ** 22 + 1, processStart: "1", startedAt: "", version: "0" };
  const worker = (attempt: number): void =>
    writeFileSync(join(runFolder(folder, "a"), "worker.json"), JSON.stringify({ ...dead, attempt }));
  const status = (): string => store.queries.show({ run: "a" }).status;
  write(folder, "a", 0, [[[start()], -1], ...plain(0, 1)]);
  worker(0);
  store.ingestAll("a");
  assert.equal(status(), "reading");
  assert.equal(store.queries.list({ limit: 9 }).runs[0]?.status, "reading");
  assert.equal(store.queries.summary("a")?.status, "reading");
  store.ingest.setStatus("a", "interrupted", "it ended", 0);
  assert.equal(status(), "interrupted");
  // Resumed: what the folder names is still the process of the attempt before.
  store.ingest.setStatus("a", "starting", null, 1);
  assert.equal(status(), "starting");
  worker(1);
  assert.equal(status(), "reading");
  write(folder, "a", 1, [
    [[start(1, 1)], -1],
    [[end(1)], 1],
  ]);
  store.ingestAll("a");
  assert.equal(status(), "finished");
});

const hasNoLimit =
  process.env["GRADUS_SQLITE"] === "node-sqlite3-wasm" && "the SQLite in WebAssembly opens any path";
test("a path that SQLite cannot open is said to be too long", { skip: hasNoLimit }, () => {
  const base = mkdtempSync(join(tmpdir(), "gradus-long-"));
  try {
    const folder = join(base, ...Array.from({ length: 9 }, () => "a".repeat(100)));
    assert.throws(
      () => new Store(folder, { anyThread: true }),
      /path has \d+ bytes, but SQLite opens only files/,
    );
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
});

test("acknowledged control lines move the status", () => {
  const { folder, store } = newStore();
  write(folder, "a", 0, [[[start()], -1], ...plain(0, 1)]);
  writeFileSync(
    join(runFolder(folder, "a"), "control.jsonl"),
    '{"id":"p1","action":"pause"}\n{"id":"c1","action":"continue"}\n{"id":"s1","action":"stop"}\n{"id":"x',
  );
  const status = (): string => {
    store.ingestAll("a");
    return store.queries.show({ run: "a" }).status;
  };
  const log = openAttempt(runFolder(folder, "a"), 0);
  const seen = ["p1", "c1", "s1"].map((id) => {
    log.append(acknowledge(0, id));
    log.commit(0);
    return status();
  });
  log.append(end(0, "stopped"));
  log.commit(0);
  assert.deepEqual([...seen, status()], ["paused", "running", "stopping", "stopped"]);
  log.close();
});

test("a deleted run leaves nothing behind, and others as they were", () => {
  const { folder, store } = newStore();
  for (const run of ["a", "b"]) {
    write(folder, run, 0, [
      [[{ ...start(), run } as Written], -1],
      ...Array.from({ length: packEvery }, (_, step) => [[metrics(step)], step] as const),
      ...plain(packEvery, 5),
      [[event(4), evaluation(4, "last"), checkpoint(4), stage(4)], 4],
    ]);
    store.ingestAll(run);
    store.queries.rollouts({ run, step: packEvery, tokens: false, limit: 1 });
  }
  store.forgetRun("a");
  while (store.purge("a"));
  assert.throws(() => store.queries.show({ run: "a" }));
  assert.equal(values(store, "b")?.total, packEvery + 5);
  const raw = openDatabase(join(folder, "store.sqlite"), { anyThread: true, readonly: true }).database;
  assert.deepEqual(raw.prepare("SELECT count(DISTINCT series) AS n FROM packed").get(), { n: 1 });
  for (const table of [
    "attempt",
    "series",
    "clock",
    "grp",
    "prompt",
    "rollout",
    "unread",
    "event",
    "evaluation",
    "checkpoint",
    "stage",
  ]) {
    assert.deepEqual(raw.prepare(`SELECT DISTINCT run FROM ${table}`).all(), [{ run: "b" }], table);
  }
  assert.deepEqual(
    raw.prepare("SELECT count(*) AS n FROM point WHERE series NOT IN (SELECT id FROM series)").get(),
    { n: 0 },
  );
  assert.deepEqual(
    raw.prepare("SELECT count(*) AS n FROM packed WHERE series NOT IN (SELECT id FROM series)").get(),
    { n: 0 },
  );
  raw.close();
});

test("pages of rollouts join without gap or repetition", () => {
  const { folder, store } = newStore();
  write(folder, "a", 0, [[[start()], -1], ...plain(0, 7)]);
  store.ingestAll("a");
  const seen: string[] = [];
  let after: string | undefined;
  do {
    const page = store.queries.rollouts({
      run: "a",
      tokens: false,
      limit: 3,
      ...(after === undefined ? {} : { after }),
    });
    assert.equal(page.total, 14);
    seen.push(...page.rollouts.map(({ step, index }) => `${step}/${index}`));
    after = page.next ?? undefined;
  } while (after !== undefined);
  assert.deepEqual(
    seen,
    Array.from({ length: 14 }, (_, index) => `${Math.floor(index / 2)}/${index % 2}`),
  );
});

test("a file that is no database is refused with what to do", () => {
  const folder = newFolder();
  mkdirSync(folder);
  writeFileSync(
    join(folder, "store.sqlite"),
    "not a database, but long enough to be taken for one ".repeat(40),
  );
  assert.throws(
    () => new Store(folder, { anyThread: true }),
    (error: Error & { detail?: { action?: string } }) =>
      /rebuilt from the run logs/.test(error.detail?.action ?? ""),
  );
});
