/** Parquet files of pyarrow's (test/fixtures/parquet/make.py), as rows and as tasks. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import { UserError } from "../../../../shared/lib/errors.ts";
import { datasetLines, hasField } from "../../../../server/core/datasetLines.ts";
import { parquetRows, parquetSample, parquetShape } from "../../../../server/lib/parquet.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { TaskSource } from "../../../../server/core/slots/tasks.ts";
import { dataset } from "../../../../server/methods/tasks/dataset.ts";
import { made, temporary } from "../../support.ts";

const fixture = (name: string): string => resolve("test/fixtures/parquet", `${name}.parquet`);
const written = (name: string, bytes: string | Uint8Array): string => {
  const file = join(temporary(), name);
  writeFileSync(file, bytes);
  return file;
};

const first = { question: "What is 1 + 2?", answer: "3", level: 1, weight: 0.25 };
const last = { question: "What is 4 + 5?", answer: "9", level: 1, weight: 1 };

describe("a Parquet file", () => {
  for (const name of ["snappy", "zstd", "gzip", "brotli", "lz4", "none", "pageV2"])
    it(`has its rows: ${name}`, () => {
      const rows = parquetRows(fixture(name));
      assert.deepEqual(
        { rowsLength: rows.length, first: rows[0], last: rows.at(-1) },
        { rowsLength: 8, first, last },
      );
    });

  it("has nested rows, as verl's", () => {
    assert.deepEqual(parquetRows(fixture("verl"))[1], {
      data_source: "openai/gsm8k",
      prompt: [
        { role: "system", content: "Answer with a number." },
        { role: "user", content: "What is 5 + 4?" },
      ],
      ability: "math",
      reward_model: { style: "rule", ground_truth: "9" },
      extra_info: { split: "train", index: 1, answer: "9", tools: null },
    });
  });

  it("has values of every type as JSON", () => {
    assert.deepEqual(parquetRows(fixture("types")), [
      {
        text: "größer 数",
        large: 2 ** 62,
        day: "2024-05-06T07:08:09.000Z",
        price: 12.5,
        flag: true,
        tags: ["a", null, "c"],
        none: [],
        map: { k: 1, l: 2 },
        bytes: null,
        half: 1.5,
        deep: [[1, 2], [], [3]],
      },
      {
        ...{ text: "", large: 3, day: null, price: null, flag: null, tags: null, none: null, map: null },
        ...{ bytes: null, half: null, deep: null },
      },
    ]);
  });

  it("has its form in its footer", () => {
    const { rows, columns, form } = parquetShape(fixture("verl"));
    assert.deepEqual(
      { rows, columnsLength: columns.length, ability: form["ability"] },
      { rows: 8, columnsLength: 5, ability: "" },
    );
    assert.ok(hasField(form, "reward_model.ground_truth") && hasField(form, "prompt.1.content"));
    assert.ok(!hasField(form, "reward_model.truth") && !hasField(form, "prompt.content"));
    assert.deepEqual(parquetSample(fixture("zstd"), 1), [first]);
  });

  it("that is none, cut short or damaged is refused with the file", () => {
    const whole = readFileSync(fixture("zstd"));
    const damaged = Uint8Array.from(whole);
    damaged.fill(255, 20, 200);
    const cases: [name: string, bytes: string | Uint8Array, RegExp][] = [
      ["text.parquet", '{"prompt":"a"}\n', /does not begin like one/],
      ["empty.parquet", "", /does not begin like one/],
      ["cut.parquet", whole.subarray(0, 900), /its end is missing/],
      ["damaged.parquet", damaged, /cannot be read as a Parquet file/],
    ];
    for (const [name, bytes, message] of cases) {
      const file = written(name, bytes);
      assert.throws(
        () => parquetRows(file),
        (error) => error instanceof UserError && error.detail.file === file && message.test(error.message),
        name,
      );
    }
    assert.throws(() => parquetRows("/nowhere/x.parquet"), /can't be read: there is no such file/);
  });
});

const open = (name: string, params: Record<string, unknown>): TaskSource =>
  made(dataset, { dataset: fixture(name), shuffle: false, ...params });
const one = (source: TaskSource) => source.draw("train", undefined, randomStream(1, "draw"));

describe("a dataset of Parquet", () => {
  it("has the tasks of the same rows as JSONL", () => {
    const rows = parquetRows(fixture("snappy"));
    const lines = written("same.jsonl", rows.map((row) => JSON.stringify(row)).join("\n"));
    const params = { prompt: "{question}", answer: "{answer}", difficulty: "level", shuffle: false };
    const [parquet, jsonl] = [open("snappy", params), made(dataset, { ...params, dataset: lines })];
    assert.deepEqual(parquet.values, ["1", "2", "0"]);
    assert.deepEqual(one(parquet), one(jsonl));
  });

  it("takes fields inside others, items of lists and whole conversations", () => {
    const words = one(open("verl", { answer: "{reward_model.ground_truth}" }));
    assert.match(words?.prompt ?? "", /^Answer with a number\.\n\nWhat is \d \+ \d\?$/);
    const item = one(open("verl", { prompt: "{prompt.1.content} =", answer: "{reward_model.ground_truth}" }));
    assert.match(item?.prompt ?? "", /^What is \d \+ \d\? =$/);
    assert.match(item?.answer ?? "", /^\d+$/);
  });

  it("names the row that lacks a field, and the field that was meant", () => {
    assert.throws(
      () => open("zstd", { prompt: "{questoin}" }),
      /row 1 has no field "questoin", did you mean "question"\?; it has question, answer/,
    );
    assert.throws(
      () => open("nullPrompt", { prompt: "{question}" }),
      /row 3 has nothing in its field "question": it is null/,
    );
  });

  it("is looked at by the editor without its rows", () => {
    const [line, ...others] = datasetLines(fixture("verl")) ?? [];
    assert.equal(others.length, 0);
    assert.ok(line?.row !== undefined && hasField(line.row, "extra_info.split"));
    assert.equal(datasetLines(written("none.parquet", "x"))?.[0]?.row, undefined);
  });
});
