/** Rows written as Parquet: what our reader makes of them, and what pyarrow made of the same file. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import { writeParquet } from "../../../server/lib/datasets/parquetWriter.ts";
import { parquetRows, parquetShape } from "../../../server/lib/parquet.ts";
import { temporary } from "../support.ts";

const rows: readonly object[] = [
  {
    step: 1,
    text: "größer 数",
    reward: 1,
    limit: "NaN",
    flag: true,
    tokens: [5, 2 ** 40, -1],
    logp: [null, -0.5, "-Infinity"],
    rewards: { correct: 1, brevity: -0.25 },
    mixed: 1,
    empty: {},
    none: null,
    steps: [
      [0, 4],
      [4, 9],
    ],
    turns: [{ role: "user", start: 0 }, { role: "tool" }],
  },
  {
    step: 2,
    text: "NaN",
    reward: 0,
    limit: 2,
    tokens: [],
    rewards: { correct: null, style: 3 },
    mixed: "two",
    turns: null,
  },
  { step: 3 },
];

async function* each<Row>(all: readonly Row[]): AsyncGenerator<Row> {
  yield* all;
}

const written = async (all: readonly object[], numbers?: (name: string) => boolean): Promise<string> => {
  const file = join(temporary(), "rows.parquet");
  await writeParquet(file, () => each(all), numbers);
  return file;
};

/** Numbers that JSON has not, as `read.py` writes them. */
const withText = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, one: unknown) =>
      typeof one === "number" && !Number.isFinite(one) ? String(one) : one,
    ),
  );

describe("rows as Parquet", () => {
  it("come back as they were, nulls where they have nothing", async () => {
    const file = await written(rows, (name) => name === "reward");
    const [first, second, third] = parquetRows(file);
    assert.deepEqual(first, {
      step: 1,
      text: "größer 数",
      reward: 1,
      limit: Number.NaN,
      flag: true,
      tokens: [5, 2 ** 40, -1],
      logp: [null, -0.5, -Infinity],
      rewards: { correct: 1, brevity: -0.25, style: null },
      mixed: "1",
      empty: "{}",
      none: null,
      steps: [
        [0, 4],
        [4, 9],
      ],
      turns: [
        { role: "user", start: 0 },
        { role: "tool", start: null },
      ],
    });
    assert.deepEqual(
      [second?.["text"], second?.["tokens"], second?.["rewards"], second?.["mixed"], second?.["turns"]],
      ["NaN", [], { correct: null, brevity: null, style: 3 }, '"two"', null],
    );
    assert.deepEqual([third?.["step"], third?.["tokens"], third?.["rewards"]], [3, null, null]);
  });

  it("are what pyarrow, pandas and datasets read", async () => {
    const bytes = readFileSync(await written(rows, (name) => name === "reward"));
    const fixture = resolve("test/fixtures/datasets/written.parquet");
    if (process.env["GRADUS_GOLDEN"] !== undefined) writeFileSync(fixture, bytes);
    assert.deepEqual(
      bytes,
      readFileSync(fixture),
      "other bytes: write them with GRADUS_GOLDEN=1, and run test/fixtures/datasets/read.py",
    );
    const { types, rows: read } = JSON.parse(readFileSync(fixture.replace("parquet", "json"), "utf8")) as {
      readonly types: Readonly<Record<string, string>>;
      readonly rows: readonly object[];
    };
    assert.deepEqual(withText(parquetRows(fixture)), read);
    assert.equal(types["step"], "int64");
    assert.equal(types["reward"], "double");
    assert.equal(types["tokens"], "list<element: int64>");
    assert.equal(types["rewards"], "struct<correct: int64, brevity: double, style: int64>");
  });

  it("fill row groups, and stop where the first reading did", async () => {
    const many = Array.from({ length: 2_500 }, (_, i) => ({ step: i, prompt: `p${i}` }));
    let read = 0;
    const file = join(temporary(), "many.parquet");
    await writeParquet(file, () => each(read++ === 0 ? many : [...many, { other: 1 }]));
    assert.equal(parquetShape(file).rows, 2_500);
    assert.deepEqual(parquetRows(file).at(-1), { step: 2_499, prompt: "p2499" });
  });

  it("are refused where there are none, or the file cannot be written", async () => {
    await assert.rejects(() => written([]), /no rows to write/);
    const nowhere = join(temporary(), "none", "rows.parquet");
    await assert.rejects(() => writeParquet(nowhere, () => each(rows)), /cannot be written/);
  });
});
