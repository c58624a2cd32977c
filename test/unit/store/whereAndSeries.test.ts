import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { openAttempt } from "../../../shared/log/writer.ts";
import { runFolder } from "../../../server/store/files.ts";
import { reduce } from "../../../server/store/queries/series.ts";
import { Store } from "../../../server/store/store.ts";
import { compileWhere } from "../../../server/store/queries/where.ts";
import { start, type Written } from "../log/sample.ts";

let store: Store;
const base = mkdtempSync(join(tmpdir(), "gradus-where-"));
before(() => {
  const log = openAttempt(runFolder(join(base, ".gradus"), "a"), 0);
  log.append(start());
  log.append({
    kind: "criteria",
    step: 0,
    id: "c1",
    criteria: [
      { text: "is kind", points: 1 },
      { name: "dose", text: "names the dose", points: 2 },
    ],
  });
  log.append({ kind: "criteria", step: 0, id: "c2", criteria: [{ text: "names the dose", points: 3 }] });
  const row = (index: number, more: object): Written => ({
    kind: "rollout",
    step: 0,
    index,
    row: { step: 0, group: `g${index % 2}`, index, ...more },
    columns: {},
  });
  log.append(
    row(0, {
      reward: 1,
      advantage: 0.5,
      finish: "stop",
      response: "the answer is 7",
      rewards: { correct: 1, "weird name": 2 },
      admitted: true,
      task: { arm: "countdown/3", id: "t" },
      judged: { style: { of: "c1", met: [1, 0.5] }, "odd term": { of: "c2", met: [0] } },
    }),
  );
  log.append(
    row(1, {
      reward: 0,
      advantage: "NaN",
      finish: "length",
      response: "100% _wild'; DROP TABLE run; --",
      rewards: { correct: 0 },
      admitted: false,
      task: { arm: "countdown/4", id: "t" },
      judged: { style: { of: "c2", met: [null] } },
    }),
  );
  log.append(
    row(2, {
      rewards: { correct: "NaN" },
      errors: { style: "timeout after 2 s" },
      finish: "error",
      response: "",
    }),
  );
  log.commit(0);
  log.close();
  store = new Store(join(base, ".gradus"), { anyThread: true });
  store.ingestAll("a");
});
after(() => {
  store.close();
  rmSync(base, { recursive: true, force: true });
});
const matching = (where: string): number[] =>
  store.queries.rollouts({ run: "a", where, tokens: false, limit: 10 }).rollouts.map(({ index }) => index);

test("where selects", () => {
  const cases: readonly (readonly [string, number[]])[] = [
    ["reward > 0.5", [0]],
    ["reward <= 0.5", [1]],
    ["!(reward > 0.5)", [1, 2]],
    ["reward == null", [2]],
    ["reward != null && advantage == null", [1]],
    ['finish == "length"', [1]],
    ["finish != 'stop'", [1, 2]],
    ["rewards.correct == 1", [0]],
    ["rewards.correct < 1", [1]],
    ["rewards.missing >= 0", []],
    ['rewards["weird name"] == 2', [0]],
    ['response contains "answer"', [0]],
    ['response contains "%"', [1]],
    ['response contains "\'; DROP TABLE run; --"', [1]],
    ["length(response) == 0", [2]],
    ["length(response) > 20", [1]],
    ['arm == "countdown/4" || index == 0', [0, 1]],
    ["admitted == true", [0]],
    ["admitted == false", [1]],
    ['group == "g0" && (index < 1 || finish == "error")', [0, 2]],
    ['errors.style contains "timeout"', [2]],
    ["advantage > -1e3", [0]],
    ['criteria.style["is kind"] == 1', [0]],
    ['criteria["style"]["dose"] >= 0.5', [0]],
    ['criteria.style["names the dose"] > 0', [0]],
    ['criteria["odd term"]["names the dose"] == 0', [0]],
    ['criteria.style["names the dose"] == null', [1, 2]],
    ['criteria.style["nobody asked"] == 1', []],
    ["", [0, 1, 2]],
    ["!index==1", [0, 2]],
  ];
  for (const [where, expected] of cases) assert.deepEqual(matching(where), expected, where);
});

test("where refuses what it does not know, at the place", () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["rewrd > 1", /"rewrd > 1" at character 1 is unknown/],
    ["reward >", /end of the expression/],
    ["reward > 1 reward", /character 12/],
    ["(reward > 1", /should be "\)"/],
    ["reward ~ 1", /character 8 is not understood/],
    ['reward == "x"', /a number/],
    ["finish == 1", /text in quotes/],
    ["reward contains 1", /works only on text/],
    ["1 == 1", /character 1/],
    ["reward < null", /== or !=/],
    ["length(reward) > 1", /response or prompt/],
    ["toString == 1", /is unknown/],
    ["criteria.style == 1", /in brackets: criteria\.style\["is polite"\]/],
    ['criteria.style["x"] == "1"', /a number/],
    ["constructor.x == 1", /is unknown/],
  ];
  for (const [where, message] of cases) assert.throws(() => compileWhere(where), message, where);
  assert.throws(() => compileWhere(`${"(".repeat(5000)}reward > 1`), /nested too deeply/);
});

test("no text reaches the SQL", () => {
  const compiled = compileWhere('response contains "x\') OR 1=1 --" || rewards["a\') --"] == 1');
  assert.ok(!compiled.sql.includes("OR 1=1") && !compiled.sql.includes("a')"));
});

test("reducing keeps first, last, every bucket's extremes and the limit", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          { weight: 9, arbitrary: fc.double({ noNaN: true, min: -1e9, max: 1e9 }) },
          { weight: 1, arbitrary: fc.constant(null) },
        ),
        { minLength: 1, maxLength: 400 },
      ),
      fc.integer({ min: 1, max: 60 }),
      (values, maximum) => {
        const steps = values.map((_, index) => index * 3);
        const out = reduce({ steps, values }, maximum);
        assert.ok(out.steps.length <= maximum || values.length <= maximum);
        assert.deepEqual(
          [...out.steps].sort((a, b) => a - b),
          out.steps,
        );
        out.steps.forEach((step, index) => assert.equal(out.values[index], values[step / 3]));
        assert.equal(out.steps.at(-1), steps.at(-1));
        const finite = values.filter((value) => value !== null);
        if (finite.length === 0 || out.low === undefined) return;
        const bounds = (list: readonly (number | null)[]) => list.filter((value) => value !== null);
        assert.equal(Math.max(...bounds(out.high ?? [])), Math.max(...finite));
        assert.equal(Math.min(...bounds(out.low)), Math.min(...finite));
        if (maximum >= 4) assert.equal(Math.max(...bounds(out.values)), Math.max(...finite));
      },
    ),
  );
});

test("one spike in a million points survives", () => {
  const values = Array.from({ length: 1_000_000 }, (_, index) => (index === 654_321 ? 99 : Math.sin(index)));
  const out = reduce({ steps: values.map((_, index) => index), values }, 2000);
  assert.ok(out.values.includes(99) && out.steps.length <= 2000);
});
