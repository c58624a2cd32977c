/** Arms that are combinations of fields, and arms that are points of a box. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../../server/lib/random.ts";
import { clock, curriculumOf } from "./support.ts";

test("arms of two fields: one for each combination, drawn alike within", async () => {
  const curriculum = curriculumOf(
    "{ arms: { use: fields, fields: [digits, operator], pool: 400 }, sampler: uniform }",
    "[{ env: arithmetic, digits: [1, 2], operators: ['+', '*'] }]",
  );
  assert.deepEqual(
    [...curriculum.division.families].sort(),
    ["1/*", "1/+", "2/*", "2/+"].map((end) => `arithmetic/${end}`),
  );
  for (const { arm, task } of await curriculum.draw(60, randomStream(1), clock)) {
    assert.equal(arm, `arithmetic/${String(task.data["digits"])}/${String(task.data["operator"])}`);
    assert.equal(curriculum.division.armOf(task), curriculum.arms.find(arm));
  }
  assert.throws(
    () => curriculumOf("{ arms: { use: fields, fields: [colour] } }", "[{ env: arithmetic }]"),
    /a task of arithmetic has no field colour/,
  );
});

test("points: drawn from the box, named by their numbers, tasks made from them; new ones join", async () => {
  const curriculum = curriculumOf(
    "{ arms: { use: parameters, box: { numbers: [2, 4], high: [5, 50] }, start: 6 }, sampler: uniform }",
    "[{ env: countdown }]",
  );
  const { arms, division } = curriculum;
  assert.ok(arms.size > 1 && arms.size <= 6);
  for (const { arm, task } of await curriculum.draw(40, randomStream(2), clock)) {
    const point = arms.point!(arms.find(arm));
    assert.equal(arm, `countdown/numbers=${point[0]},high=${point[1]}`);
    const numbers = task.data["numbers"];
    assert.ok(Array.isArray(numbers) && numbers.length === point[0]);
    assert.ok(numbers.every((number) => Number(number) <= point[1]!));
    assert.equal(division.armOf(task), arms.find(arm));
  }
  const before = arms.size;
  const place = arms.place!.bind(arms);
  assert.equal(place([3.4, 99]), before);
  assert.equal(arms.name(before), "countdown/numbers=3,high=50", "brought into the box, whole");
  assert.equal(place([3, 50]), before, "the same point is the same arm");
  const text =
    "{ arms: { use: parameters, box: { numbers: [2, 4], high: [5, 50] }, start: 6 }, sampler: uniform }";
  const copy = curriculumOf(text, "[{ env: countdown }]");
  copy.load(curriculum.save());
  assert.equal(copy.arms.find("countdown/numbers=3,high=50"), before);
});

test("a box that the environment has not is said to be none, with what there is", () => {
  const make = (box: string, tasks = "[{ env: reverse_text }]"): unknown =>
    curriculumOf(`{ arms: { use: parameters, box: ${box} } }`, tasks);
  assert.throws(() => make("{ width: [1, 2] }"), /reverse_text has no parameter width/);
  assert.throws(() => make("{ length: [1, 200] }"), /1 to 200, does not lie in what reverse_text can make/);
  assert.throws(() => make("{}", "[{ env: countdown }, { env: arithmetic }]"), /there are 2 tasks/);
});
