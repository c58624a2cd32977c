import assert from "node:assert/strict";
import { test } from "node:test";
import { batchOfSamples } from "../../../server/core/rows/sampledRows.ts";
import { miniBatches, selectRows, selectTokens } from "../../../server/core/rows/batch.ts";
import { origin, type RolloutRecord } from "../../../server/core/rollouts.ts";
import { parseRollout, writeRollout } from "../../../shared/rollouts/rollouts.ts";
import { batchOf, row } from "../support.ts";

const record = (group: string, index: number): RolloutRecord => ({
  task: { id: group, source: "s", env: "e", prompt: "", data: {} },
  arm: "s",
  group,
  index,
  prompt: "",
  response: "",
  finish: "stop",
  source: "self",
  use: "train",
});
const sample = (...tokens: number[]) => ({
  tokens: Int32Array.from(tokens),
  logp_old: Float64Array.from(tokens, (t) => -t),
  logp_sampled: Float64Array.from(tokens, (t) => -2 * t),
  entropy: Float64Array.from(tokens, (t) => t / 10),
  versions: Int32Array.from(tokens, () => 3),
});

test("samples become columns; prefilled tokens come first, without values, and do not train", () => {
  const batch = batchOfSamples([
    { record: record("a", 0), sample: sample(1, 2), context: Int32Array.of(9) },
    { record: record("b", 0), sample: sample(3), context: Int32Array.of(8, 7), given: Int32Array.of(5, 6) },
    { record: record("a", 1), sample: sample(), context: Int32Array.of(9), train_context: Int32Array.of(4) },
  ]);
  assert.deepEqual([...batch.offsets], [0, 2, 5, 5]);
  assert.deepEqual([...batch.tokens], [1, 2, 5, 6, 3]);
  assert.deepEqual(
    [...batch.origin],
    [origin.written, origin.written, origin.given, origin.given, origin.written],
  );
  assert.deepEqual([...batch.mask], [1, 1, 0, 0, 1]);
  assert.deepEqual([...(batch.columns.logp_old ?? [])], [-1, -2, Number.NaN, Number.NaN, -3]);
  assert.deepEqual([...(batch.columns.versions ?? [])], [3, 3, -1, -1, 3]);
  assert.deepEqual([[...batch.group], batch.groups], [[0, 1, 0], 2]);
  assert.deepEqual([...batch.context.values], [9, 8, 7, 9]);
  assert.deepEqual([...(batch.trainContext?.values ?? [])], [9, 8, 7, 4]);
});

test("selecting rows takes their part of every column, and renumbers groups", () => {
  const batch = batchOf([
    row("a", 0, { tokens: [1, 2], logp_old: [-1, -2] }),
    row("b", 0, { tokens: [3], logp_old: [-3] }),
    row("c", 0, { tokens: [4, 5], logp_old: [-4, -5], pair: "x" }),
  ]);
  const part = selectRows(batch, [2, 0]);
  assert.deepEqual([...part.tokens], [4, 5, 1, 2]);
  assert.deepEqual([...(part.columns.logp_old ?? [])], [-4, -5, -1, -2]);
  assert.deepEqual([[...part.group], part.groups], [[0, 1], 2]);
  assert.deepEqual([...(part.pair ?? [])], [0, -1]);
  assert.deepEqual([...selectTokens(Float64Array.of(1, 2, 3, 4, 5), batch, [1, 2])], [3, 4, 5]);
});

test("mini-batches never split a unit, and hold every row once", () => {
  const batch = batchOf(
    ["a", "b", "a", "b", "c"].map((group, index) =>
      row(group, index, { tokens: [1], ...(group === "c" ? {} : { pair: group }) }),
    ),
  );
  assert.deepEqual(miniBatches(batch, 2, "sequence"), [[0, 1], [2, 3], [4]]);
  assert.deepEqual(miniBatches(batch, 3, "group"), [
    [0, 2],
    [1, 3, 4],
  ]);
  assert.deepEqual(miniBatches(batch, 2, "pair"), [[0, 2], [1, 3], [4]]);
  assert.deepEqual(miniBatches(batch, undefined, "sequence"), [[0, 1, 2, 3, 4]]);
});

test("rollouts survive writing and reading: non-finite numbers as strings, unknown keys kept", () => {
  const written = {
    ...row("g", 1, { logp_old: [-1, null, "NaN"], reward: Number.NEGATIVE_INFINITY }),
    extra: { deep: Number.NaN, kept: [1] },
  };
  const text = writeRollout(written);
  assert.deepEqual(JSON.parse(text), {
    step: 0,
    group: "g",
    index: 1,
    logp_old: [-1, null, "NaN"],
    reward: "-Infinity",
    extra: { deep: "NaN", kept: [1] },
  });
  assert.deepEqual(parseRollout(text, { file: "f", line: 0 }), JSON.parse(text));
  assert.deepEqual(
    parseRollout('{"step":1,"group":"a NaN","index":0,"reward":-Infinity,"logp_new":[NaN]}', {
      file: "f",
      line: 0,
    }),
    { step: 1, group: "a NaN", index: 0, reward: "-Infinity", logp_new: ["NaN"] },
  );
});
