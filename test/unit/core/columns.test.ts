import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { attemptsIn } from "../../../server/algorithm/rewards/attempts.ts";
import { batchOfRows, columnOfRows } from "../../../server/analysis/recorded.ts";
import type { Batch } from "../../../server/core/rollouts.ts";
import { joinBatches } from "../../../server/core/rows/joinBatches.ts";
import { selectRows } from "../../../server/core/rows/batch.ts";
import { cut, stretchesOf } from "../../../server/core/rows/batchParts.ts";
import { rowColumnsBy, tokenColumns, withReplayedColumns } from "../../../server/core/rows/columns.ts";
import type { KeptRow } from "../../../server/methods/replay/keptRow.ts";
import { Memory } from "../../../server/methods/replay/memory.ts";
import { evaluationRecord } from "../../../server/run/step/log/rolloutRecord.ts";
import { rowOf } from "../../../server/store/queries/rolloutRow.ts";
import { decodeRecord, encodeRecord, prefixBytes } from "../../../shared/log/codec.ts";
import { readCommitted, logStart } from "../../../shared/log/reader.ts";
import { kinds, type RolloutRecordLog } from "../../../shared/log/records.ts";
import { parseRollout, writeRollout, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import {
  columns,
  columnsWith,
  logColumns,
  type Column,
  type LogColumn,
} from "../../../shared/rollouts/columns.ts";
import { origins } from "../../../shared/rollouts/fields.ts";
import { batchOf } from "../../support/batch.ts";

const names = columnsWith({});
const inBatch = names.filter((name) => columns[name].batch !== "none");
const apart = columnsWith({ batch: "none" });
/** Tokens of each row, and of what is in front of it. */
const lengths = { token: [2, 3, 1], row: [1, 1, 1], context: [1, 2, 2] } as const;

/** Numbers that are a column's and a row's own, and the same as float32. */
function valuesOf(name: Column, row: number): number[] {
  const { per, dtype } = columns[name];
  return Array.from({ length: lengths[per][row]! }, (_, i) => {
    if (dtype === "uint8") return (row + i) % (name === "mask" ? 2 : 3);
    const whole = 1000 * (names.indexOf(name) + 1) + 10 * row + i;
    return dtype === "int32" ? whole : whole + 0.5;
  });
}

const ragged = (name: Column): number[][] => [0, 1, 2].map((row) => valuesOf(name, row));
const floats = (name: Column): Float64Array => Float64Array.from(ragged(name).flat());
const integers = (name: Column): Int32Array => Int32Array.from(ragged(name).flat());

/** Three rows that have every column which a batch may have. */
function whole(): Batch {
  const batch = batchOf(
    [0, 1, 2].map((row) => ({
      tokens: valuesOf("tokens", row),
      origin: valuesOf("origin", row),
      context: valuesOf("context", row),
      trainContext: valuesOf("train_context", row),
      group: row,
    })),
    tokenColumns(floats, integers),
    rowColumnsBy(floats),
  );
  return { ...batch, mask: Uint8Array.from(ragged("mask").flat()) };
}

/** What a batch has of a column, by row; undefined where it has none. */
function found(batch: Batch, name: Column): number[][] | undefined {
  const { trainContext, rowColumns = {}, ...fields } = batch;
  const arrays = new Map<string, Iterable<number>>([
    ...Object.entries({ tokens: fields.tokens, origin: fields.origin, mask: fields.mask }),
    ...Object.entries(batch.columns),
    ...Object.entries(rowColumns),
  ]);
  const rows = Array.from({ length: batch.rows }, (_, row) => row);
  const lists = name === "context" ? batch.context : name === "train_context" ? trainContext : undefined;
  if (lists !== undefined)
    return rows.map((row) => [...lists.values.subarray(lists.offsets[row], lists.offsets[row + 1])]);
  const values = arrays.get(name);
  if (values === undefined) return undefined;
  const list = [...values];
  if (columns[name].per === "row") return list.map((value) => [value]);
  return rows.map((row) => list.slice(batch.offsets[row], batch.offsets[row + 1]));
}

function holds(batch: Batch, rows: readonly number[], of: readonly Column[], where: string): void {
  for (const name of of)
    assert.deepEqual(
      found(batch, name),
      rows.map((row) => valuesOf(name, row)),
      `${where}: ${name}`,
    );
}

test("a batch selected, joined, taken in stretches or cut into attempts keeps every column", () => {
  const batch = whole();
  holds(batch, [0, 1, 2], inBatch, "whole");
  holds(selectRows(batch, [2, 0]), [2, 0], inBatch, "selected");
  const single = [0, 1, 2].map((row) => selectRows(batch, [row]));
  holds(joinBatches(single, ["a", "b", "c"]), [0, 1, 2], inBatch, "joined");
  for (const at of [...stretchesOf(batch), { first: 1, last: 3, from: 2, to: 6 }])
    holds(
      cut({ batch, now: {}, old: {} }, at).batch,
      [0, 1, 2].slice(at.first, at.last),
      inBatch,
      `rows from ${at.first}`,
    );
  const tokens = inBatch.filter((name) => columns[name].per === "token");
  holds(attemptsIn(batch, "all").batch, [0, 1, 2], tokens, "attempts");
});

test("a column that one of the joined batches lacks is missing on its rows alone", () => {
  const { rowColumns: _, ...bare } = { ...selectRows(whole(), [0]), columns: {} };
  const batch = joinBatches([bare, selectRows(whole(), [1])], ["a", "b"]);
  for (const name of columnsWith({ batch: "column" })) {
    const missing = columns[name].dtype === "int32" ? -1 : Number.NaN;
    const lacking = valuesOf(name, 0).map(() => missing);
    assert.deepEqual(found(batch, name), [lacking, valuesOf(name, 1)], name);
  }
});

test("replay keeps and saves the replayed columns, and no other", () => {
  const kept = [0, 1, 2].map((row): KeptRow => ({
    batch: withReplayedColumns(selectRows(whole(), [row])),
    step: 0,
    group: `${row}`,
    terms: [],
    reward: 1,
    success: 1,
    advantages: Float64Array.from(valuesOf("advantages", row)),
    left: false,
    draws: 0,
  }));
  const memory = new Memory(8, undefined);
  memory.keep(kept, () => true, 0);
  const later = new Memory(8, undefined);
  later.load(memory.save());
  for (const [where, rows] of [
    ["kept", memory.rows],
    ["taken up", later.rows],
  ] as const) {
    const batch = joinBatches(
      rows.map((row) => row.batch),
      ["0", "1", "2"],
    );
    const of = inBatch.filter((name) => columns[name].replayed);
    holds(batch, [0, 1, 2], of, where);
    for (const name of inBatch.filter((name) => !of.includes(name)))
      assert.equal(found(batch, name), undefined, `${where}: ${name}`);
    assert.deepEqual(
      rows.map(({ advantages }) => [...advantages]),
      ragged("advantages"),
    );
  }
});

/** A row's record as a step writes it, with the arrays that are in no batch. */
function recordOf(row: number): RolloutRecordLog {
  const nothing = { sources: [], total: Float64Array.of(1, 1, 1), errored: new Uint8Array(3) };
  const scored = { rewards: { terms: [], weights: [] }, combined: nothing, success: new Uint8Array(3) };
  const answered = { greedy: false, batch: whole(), scored, gold: [], task: Int32Array.of(0, 1, 2) };
  const record = evaluationRecord(0, answered, row);
  const others = apart.map((name) => [name, Float32Array.from(valuesOf(name, row))] as const);
  return {
    kind: "rollout",
    step: 0,
    index: row,
    row: record.row,
    columns: { ...record.columns, ...Object.fromEntries(others) },
  };
}

test("the log holds every logged column, and a rollouts file has it as it was", () => {
  for (const row of [0, 1, 2]) {
    const bytes = encodeRecord(recordOf(row));
    const decoded = decodeRecord(kinds.rollout, bytes.subarray(prefixBytes));
    assert.ok(decoded.state === "record" && decoded.record.kind === "rollout");
    const { columns: arrays } = decoded.record;
    assert.deepEqual(Object.keys(arrays), logColumns);
    for (const name of logColumns) assert.deepEqual([...arrays[name]!], valuesOf(name, row), name);
    const listed: RolloutRow = rowOf(decoded.record, true);
    for (const name of columnsWith({ logged: true })) {
      const value = valuesOf(name, row);
      const own = name === "origin" ? value.map((number) => origins[number]) : value;
      assert.deepEqual(listed[name], columns[name].per === "row" ? own[0] : own, name);
    }
  }
});

test("recorded rollouts give every column back, but for versions, which are another run's", () => {
  const rows = [0, 1, 2].map((row) => {
    const lists = names.map((name) => {
      const own = valuesOf(name, row);
      if (columns[name].per === "row") return [name, own[0]];
      return [name, name === "origin" ? own.map((number) => origins[number]) : own];
    });
    const written = { step: 0, group: `${row}`, index: 0, ...Object.fromEntries(lists) };
    return parseRollout(writeRollout(written), { file: "rollouts.jsonl", line: row });
  });
  const batch = batchOfRows(rows, []);
  const read = inBatch.filter((name) => name !== "versions");
  holds(batch, [0, 1, 2], read, "recorded");
  assert.equal(batch.columns.versions, undefined);
  assert.deepEqual(
    rows.map(({ versions }) => versions),
    ragged("versions"),
  );
  for (const name of apart) assert.deepEqual(columnOfRows(rows, name, batch.offsets), floats(name), name);
});

const python = "shared/log/gradus_log.py";

test("the Python writer knows the log's columns, and what it writes of each is read", () => {
  const lines = logColumns.map((name) => `    "${name}",  # ${columns[name].meaning}\n`);
  assert.ok(
    readFileSync(python, "utf8").includes(`\nCOLUMNS = (\n${lines.join("")})\n`),
    `${python}: its list must be\n${lines.join("")}`,
  );
  const folder = mkdtempSync(join(tmpdir(), "gradus-columns-"));
  const types = (name: LogColumn): string =>
    columns[name].dtype === "float64" ? "float32" : columns[name].dtype;
  const script = `
import json, sys
sys.path.insert(0, "shared/log")
from gradus_log import open_attempt
log = open_attempt(sys.argv[1], 0)
log.rollout(0, 0, {"step": 0, "group": "a", "index": 0}, json.load(sys.stdin))
log.commit(0)
log.close()
`;
  try {
    const input = JSON.stringify(
      Object.fromEntries(logColumns.map((name) => [name, [types(name), valuesOf(name, 1)]])),
    );
    const { status, stderr } = spawnSync("python3", ["-c", script, folder], { input, encoding: "utf8" });
    assert.equal(status, 0, stderr);
    const records = readCommitted(folder, 0, logStart).steps.flatMap((step) => step.records);
    const [record] = records;
    assert.ok(record?.kind === "rollout");
    for (const name of logColumns) assert.deepEqual([...record.columns[name]!], valuesOf(name, 1), name);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a column is in the table and where it is computed or read, in no other list", () => {
  const users = [
    "server/engine/passes/score.ts",
    "server/engine/transformer/head.ts",
    "server/methods/advantage/baselines/optimalTokenBaseline.ts",
  ];
  const files = ["server", "shared", "extension", "webviews"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  );
  const naming = files
    .filter((file) => file.endsWith(".ts") && !file.startsWith("server/frameworks/"))
    .filter((file) => readFileSync(file, "utf8").includes("sum_pi_squared"));
  assert.deepEqual(naming.sort(), [...users, "shared/rollouts/columns.ts"].sort());
});
