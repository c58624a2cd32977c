import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Scorer } from "../../../../server/algorithm/rewards/scoring.ts";
import { Algorithm, contextOf } from "../../../../server/algorithm/algorithm.ts";
import { columnOf, outcome } from "../../../../server/algorithm/rewards/rewards.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { TermValue } from "../../../../server/core/slots/reward.ts";
import type { Batch } from "../../../../server/core/rollouts.ts";
import type { RewardTerm } from "../../../../server/core/reward.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { equation } from "../../../../server/methods/reward/equation.ts";
import { exactMatch } from "../../../../server/methods/reward/exactMatch.ts";
import { equals, parseExpression } from "../../../../server/methods/reward/expression.ts";
import { format } from "../../../../server/methods/reward/format.ts";
import { length } from "../../../../server/methods/reward/length.ts";
import { numeric } from "../../../../server/methods/reward/numeric.ts";
import { verdict } from "../../../../server/methods/reward/verdict.ts";
import { python } from "../../../../server/methods/reward/own/python.ts";
import { batchOf, configOf, made } from "../../support.ts";
import { noModels, rowOf } from "./support.ts";

const { clock } = noModels;

const scores = async (
  term: RewardTerm,
  rows: readonly RolloutRow[],
  batch: Batch = batchOf(rows),
): Promise<(number | string)[]> =>
  (await term.score(batch, noModels)).map((value) =>
    value.kind === "value" ? value.value : value.kind === "error" ? value.message : value.kind,
  );

const game = { data: { numbers: [3, 5, 7], target: 22 } };

test("equation: the given numbers once each, and exactly the target", async () => {
  const right = ["3*5+7", " 7 + 5*3 ", "(3×5)+7", "3*5+7=22", "7+(5)*3"];
  const wrong = [
    "3*5",
    "3*5+7+0",
    "3*5+7-7+7",
    "35+7",
    "3 5+7",
    "3*5+8",
    "5*3-7",
    "",
    "22",
    "3*5+7=23",
    "3*5+7=22=22",
    "3**5+7",
    "3*5+7;process.exit()",
    "(3*5+7",
    "3*5+7)",
    "-3*5+7",
    "3/0*5*7",
  ];
  assert.deepEqual(
    await scores(
      made(equation, {}),
      [...right, ...wrong].map((response) => rowOf(response, { task: game })),
    ),
    [...right.map(() => 1), ...wrong.map(() => 0)],
  );
  assert.deepEqual(
    await scores(
      made(equation, { partial: 0.1 }),
      ["3+5+7", "3+5", "x"].map((response) => rowOf(response, { task: game })),
    ),
    [0.1, 0, 0],
  );
  assert.deepEqual(
    await scores(
      made(equation, { extract: "answer_tag" }),
      ["no 1+1 <answer>3*5+7</answer>", "3*5+7"].map((response) => rowOf(response, { task: game })),
    ),
    [1, 0],
  );
  assert.deepEqual(
    await scores(made(equation, { extract: "last_line" }), [rowOf("let me see\n3*5+7\n", { task: game })]),
    [1],
  );
  assert.match(String((await scores(made(equation, {}), [rowOf("1")]))[0]), /needs "numbers".*and "target"/);
});

test("expressions are exact fractions", () => {
  const value = (text: string): boolean | undefined => {
    const parsed = parseExpression(text);
    return parsed.ok ? equals(parsed.value, 1) : undefined;
  };
  assert.equal(value("1/3+1/3+1/3"), true);
  assert.equal(value("10/4*2-4"), true);
  assert.equal(value("8/3/8*3"), true);
  assert.equal(value("2-3-2*(1-2)"), true);
  assert.equal(value(`${"(".repeat(65)}1${")".repeat(65)}`), undefined);
  assert.equal(value("1/0"), undefined);
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), (text) => typeof parseExpression(text).ok === "boolean"),
  );
});

test("exact match, numeric and format", async () => {
  const asked = { data: { answer: "Yes" } };
  assert.deepEqual(
    await scores(
      made(exactMatch, {}),
      [" Yes\n", "yes", "Yes!"].map((response) => rowOf(response, { task: asked })),
    ),
    [1, 0, 0],
  );
  assert.deepEqual(
    await scores(
      made(exactMatch, { ignore_case: true, strip: false }),
      ["yes", " yes"].map((response) => rowOf(response, { task: asked })),
    ),
    [1, 0],
  );
  assert.match(String((await scores(made(exactMatch, {}), [rowOf("a")]))[0]), /needs an answer/);
  const number = { data: { answer: "#### 1,234.5" } };
  assert.deepEqual(
    await scores(
      made(numeric, {}),
      ["it is 7, no, 1234.5.", "1234.6", "none", "-1234.5"].map((response) =>
        rowOf(response, { task: number }),
      ),
    ),
    [1, 0, 0, 0],
  );
  assert.match(String((await scores(made(numeric, {}), [rowOf("1", { task: asked })]))[0]), /needs a number/);
  const tags = [
    "<think>a</think><answer>b</answer>",
    "<answer>b</answer><think>a</think>",
    "<think>a</think><answer>b</answer><answer>c</answer>",
    "<think>a<answer>b</answer></think>",
  ];
  assert.deepEqual(
    await scores(
      made(format, { tags: ["think", "answer"] }),
      tags.map((response) => rowOf(response)),
    ),
    [1, 0, 0, 0],
  );
  assert.deepEqual(
    await scores(
      made(format, { pattern: "\\d+|x" }),
      ["12", "12a", "x", "ax"].map((response) => rowOf(response)),
    ),
    [1, 0, 1, 0],
  );
  assert.deepEqual(
    await scores(
      made(format, { pattern: "x", present: 1.1, absent: -1 }),
      ["x", "y"].map((response) => rowOf(response)),
    ),
    [1.1, -1],
  );
  assert.throws(() => made(format, {}), /neither/);
  assert.throws(() => made(format, { pattern: "(" }), /not a regular expression/);
});

test("Parallel-R1: 1.1 for well-formed blocks, 1 for none and 0 for others, where the answer is right", async () => {
  const { stages } = configOf(
    "extends: parallel-r1\ntasks: [{ env: countdown }]\nreward: { terms: { right: equation } }\n",
  );
  const { terms, combine } = stages.find(({ name }) => name === "bonus")!.body.reward;
  assert.equal(combine.declaration.name, "product");
  const path = "<Path>one way, 1 < 2</Path>";
  const block = `<Parallel>\n${path}\n${path}</Parallel>\n<Summary>both agree</Summary>`;
  const said = {
    [`so ${block} and ${block} done`]: 1.1,
    "no blocks at all, 1 < 2": 1,
    "a </Path> without a block": 1,
    [`<Parallel>${path}</Parallel><Summary>of one</Summary>`]: 0,
    [`<Parallel>${path}${path}</Parallel> no summary`]: 0,
    [`<Parallel>${path}${path}`]: 0,
    [`${block}<Summary>once more</Summary>`]: 0,
  };
  const rows = Object.keys(said).map((response) => rowOf(response));
  const of = async (name: string): Promise<(number | string)[]> => {
    const { params } = terms.find((one) => one.name === name)!.term;
    return scores(made(format, params), rows);
  };
  const [formed, bonus] = [await of("well_formed"), await of("parallel")];
  assert.deepEqual(
    formed.map((value, i) => Number(value) * Number(bonus[i])),
    Object.values(said),
  );
});

test("verdict: the last one counts; a response without one is worth 0", async () => {
  const rows = ["It adds up. T", "T at first, but no: F", "True", "t"].map((text) => rowOf(text));
  const batch = batchOf(rows);
  const answered = {
    ...batch,
    records: batch.records.map((record) => ({ ...record, task: { ...record.task, answer: "T" } })),
  };
  assert.deepEqual(await scores(made(verdict, {}), rows, answered), [1, 0, 0, 0]);
  assert.deepEqual(await scores(made(verdict, { ignore_case: true }), rows, answered), [1, 0, 0, 1]);
  const boxed = made(verdict, { pattern: "(?:verdict: )(true|false|t)", ignore_case: true });
  assert.deepEqual(await scores(boxed, rows, answered), [0, 0, 0, 0]);
  assert.match(String((await scores(made(verdict, {}), [rowOf("T")]))[0]), /needs an answer/);
});

test("length shapes: linear, limit, soft overlong as in DAPO, relative to the group", async () => {
  const rows = [0, 4, 6, 8, 10, 12].map((n) => rowOf("x".repeat(n)));
  assert.deepEqual(await scores(made(length, { limit: 8 }), rows), [1, 0.5, 0.25, 0, 0, 0]);
  assert.deepEqual(await scores(made(length, { shape: "limit", limit: 8 }), rows), [0, 0, 0, 0, -1, -1]);
  assert.deepEqual(
    await scores(made(length, { shape: "soft_overlong", limit: 10, cache: 4 }), rows),
    [0, 0, 0, -0.5, -1, -1],
  );
  assert.deepEqual(
    await scores(made(length, {}), [rowOf("xxxxx")]),
    [0.5],
    "the limit is rollout.max_tokens",
  );
  assert.deepEqual(
    await scores(made(length, { shape: "group_relative" }), [
      rowOf("xx"),
      rowOf("xxxx"),
      rowOf("xxx"),
      rowOf("x", { group: "h" }),
    ]),
    [0.5, -0.5, 0, 0],
  );
});

test("a Python reward without its file refuses to start, naming its term", async () => {
  await assert.rejects(
    async () => made(python, { file: "./absent.py" }, { name: "style" }).prepare?.(),
    /reward term "style": there is no file .*absent\.py/,
  );
});

const v = (value: number): TermValue => ({ kind: "value", value });
const chain = (reward: string): Algorithm => {
  const { top } = configOf(`tasks: [{ env: countdown }]\nreward: ${reward}\n`);
  return new Algorithm(top, contextOf(top, { random: randomStream(1) }));
};
const twoTerms = "terms: { a: { use: equation, weight: 2 }, b: { use: length, weight: -0.5 } }";
const four = batchOf([0, 1, 2, 3].map((index) => rowOf("xx", { index })));

test("sum and product combine weighted terms; null leaves a term out, an error takes the row out", () => {
  const a = columnOf("a", [v(1), v(1), { kind: "error", message: "no" }, { kind: "none" }], four);
  const b = columnOf("b", [v(3), { kind: "none" }, v(3), { kind: "none" }], four);
  const sum = chain(`{ ${twoTerms} }`).rewards([a, b], four, clock);
  assert.deepEqual([...sum.combined.total], [0.5, 2, Number.NaN, Number.NaN]);
  assert.deepEqual([...sum.combined.errored], [0, 0, 1, 0]);
  assert.deepEqual([...sum.success], [outcome.right, outcome.right, outcome.unknown, outcome.unknown]);
  const product = chain(`{ ${twoTerms}, combine: product }`).rewards([a, b], four, clock);
  assert.deepEqual([...product.combined.total], [-3, 2, Number.NaN, Number.NaN]);
});

test("success is decided by the named terms, the first that applies, at the wanted value", () => {
  const a = columnOf("a", [v(1), { kind: "none" }, v(0), { kind: "error", message: "no" }], four);
  const b = columnOf("b", [v(0), v(0.6), v(0.6), v(1)], four);
  assert.deepEqual(
    [
      ...chain(`{ ${twoTerms}, success: { terms: [a, b], at_least: 0.5 } }`).rewards([a, b], four, clock)
        .success,
    ],
    [1, 1, 0, outcome.unknown],
  );
  assert.deepEqual(
    [
      ...chain(`{ ${twoTerms}, success: { terms: [b], at_least: 0.5 } }`).rewards([a, b], four, clock)
        .success,
    ],
    [0, 1, 1, 1],
  );
});

test("values at token level must fit the row, are finite, and add up", () => {
  const column = columnOf(
    "a",
    [
      { kind: "values", level: "token", values: [1, 2] },
      { kind: "values", level: "token", values: [1] },
      v(4),
      { kind: "values", level: "token", values: [1, Number.POSITIVE_INFINITY] },
    ],
    four,
  );
  assert.deepEqual(
    [...column.errors],
    [
      [1, "1 values for 2 tokens"],
      [3, "a value is Infinity, which is not finite"],
    ],
  );
  assert.deepEqual(
    [
      ...chain("{ terms: { a: { use: equation, weight: 2 } } }").rewards([column], four, clock).combined
        .total,
    ],
    [6, Number.NaN, 8, Number.NaN],
  );
});

test("the scorer sends each term only the rollouts of its tasks", async () => {
  const { top } = configOf(
    "tasks: [{ env: countdown }, { env: arithmetic }]\nreward: { terms: { right: { use: equation, tasks: [countdown] }, exact: { use: exact_match, tasks: [arithmetic] }, short: { use: length } } }\n",
  );
  const scorer = new Scorer(top.reward, contextOf(top, { random: randomStream(1) }));
  const rows = [
    rowOf("3*5+7", { task: { env: "countdown", ...game } }),
    rowOf("46", { task: { env: "arithmetic", data: { answer: "46" } } }),
    rowOf("1", { task: { env: "countdown", ...game } }),
  ];
  const columns = await scorer.score(batchOf(rows), noModels);
  assert.deepEqual(
    columns.map(({ name, status }) => [name, ...status]),
    [
      ["right", 0, 1, 0],
      ["exact", 1, 0, 1],
      ["short", 0, 0, 0],
    ],
  );
  assert.deepEqual([...columns[0]!.values], [1, Number.NaN, 0]);
});
