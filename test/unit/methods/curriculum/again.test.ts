/** AGAIN: what a curriculum of points leaves behind, which past run is chosen, and how it is followed. */
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { Curriculum } from "../../../../server/algorithm/curriculum/curriculum.ts";
import {
  pastCurriculumOf,
  readPastCurricula,
  type Knowledge,
  type PastCurriculum,
} from "../../../../server/methods/curriculum/pastCurriculum.ts";
import { gridOf } from "../../../../server/methods/curriculum/samplers/mixtures/knowledge.ts";
import { nearestPast } from "../../../../server/methods/curriculum/samplers/mixtures/nearestPast.ts";
import { worthFollowing } from "../../../../server/methods/curriculum/samplers/mixtures/replayedMixtures.ts";
import type { CurriculumEvent } from "../../../../server/core/slots/curriculum.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { Saved } from "../../../../server/core/basics.ts";
import type { Group } from "../../../../server/core/rollouts.ts";
import { near, temporary } from "../../support.ts";
import { at, curriculaOf, group } from "./support.ts";

const knobs = [
  { name: "length", low: 1, high: 64, whole: true },
  { name: "letters", low: 2, high: 26, whole: true },
];
const box = knobs.map(({ name, low, high }) => ({ name, low, high }));
const arms = "{ use: parameters, box: { length: [1, 64], letters: [2, 26] }, start: 2 }";
const small = "fit_every: 40, components: [2], probe_every: 40, probe_points: 9";

/** A curriculum of points with this sampler, whose signal is the reward itself. */
const with_ = (sampler: string): (() => Curriculum) =>
  curriculaOf(
    `{ arms: ${arms}, signal: reward, estimator: last, sampler: ${sampler} }`,
    "[{ env: reverse_text }]",
  );

/** What a policy earns at a point. */
type Earns = (length: number, letters: number) => number;
const inCorner: Earns = (length) => Number(length > 48);

interface Played {
  readonly names: readonly string[];
  readonly news: readonly CurriculumEvent[];
}

async function step(curriculum: Curriculum, now: number, earns: Earns): Promise<Played> {
  const clock = at(now);
  const paid = (arm: string, task: Group["task"]): Group => {
    const [length = 0, letters = 0] = curriculum.arms.point!(curriculum.arms.find(arm));
    return group([earns(length, letters), 0], { arm, task });
  };
  for (let wish = curriculum.nextPilots(clock); wish !== undefined; wish = curriculum.nextPilots(clock)) {
    const tried = curriculum.tasksOf(wish, now, clock);
    curriculum.observePilots(
      tried.map(({ arm, task }) => paid(arm, task)),
      clock,
    );
  }
  const drawn = await curriculum.draw(20, randomStream("again", now), clock);
  const groups = drawn.map(({ arm, task }) => paid(arm, task));
  curriculum.observe(groups, [], clock);
  return { names: drawn.map(({ arm }) => arm), news: curriculum.events() };
}

async function play(curriculum: Curriculum, steps: number, earns: Earns): Promise<Played[]> {
  const played: Played[] = [];
  for (let now = 0; now < steps; now++) played.push(await step(curriculum, now, earns));
  return played;
}

const pastOf = async (run: string, earns: Earns, steps = 12): Promise<PastCurriculum> =>
  pastCurriculumOf(
    run,
    (await play(with_(`{ use: gmm, ${small} }`)(), steps, earns)).flatMap(({ news }) => news),
  );

function fileOf(...pasts: readonly unknown[]): string {
  const file = join(temporary(), "past.jsonl");
  writeFileSync(file, pasts.map((past) => `${JSON.stringify(past)}\n`).join(""));
  return file;
}
const againOf = (file: string, more = "", least = 0.1): (() => Curriculum) =>
  with_(`{ use: again, from: [${file}], ${small}, least: ${least}${more} }`);

// ───────────────────────────────────────────────────────────────── what is recorded

test("every mixture that is fitted is reported, with what groups drawn from it have earned until the next", async () => {
  const played = await play(with_(`{ use: gmm, ${small}, uniform: 0 }`)(), 8, inCorner);
  const past = pastCurriculumOf(
    "one",
    played.flatMap(({ news }) => news),
  );
  assert.deepEqual(past.box, box);
  assert.deepEqual(
    past.mixtures.map(({ groups }) => groups),
    [40, 80, 120, 160],
  );
  for (const { components } of past.mixtures)
    for (const { mean, covariance } of components) {
      assert.equal(mean.length, 3);
      covariance.forEach((row, a) =>
        row.forEach((value, b) => assert.ok(near(value, covariance[b]![a]!) && row.length === 3)),
      );
      assert.ok(covariance.every((row, a) => row[a]! > 0));
    }
  // Nothing was drawn from a mixture before the first; afterwards every group was, and none after the last fit is reported.
  assert.deepEqual(
    past.mixtures.map(({ earned }) => earned.length),
    [40, 40, 40, 0],
  );
  const [first] = past.mixtures;
  const rewards = played
    .slice(2, 4)
    .flatMap(({ names }) => names.map(lengthOf))
    .map((length) => inCorner(length, 0) / 2);
  assert.deepEqual(
    first!.earned.map(([, reward]) => reward),
    rewards,
  );
});

const lengthOf = (name: string): number => Number(/length=(\d+)/.exec(name)![1]);

test("what the policy knows is measured at the same tasks of the same grid in every run", async () => {
  assert.deepEqual(gridOf([{ name: "x", low: 0, high: 1, whole: false }], 3).flat(), [0, 0.5, 1]);
  const cube = ["x", "y", "z"].map((name) => ({ name, low: 0, high: 1, whole: false }));
  assert.equal(gridOf(cube, 64).length, 64);
  assert.equal(gridOf(cube, 63).length, 27);
  assert.deepEqual(gridOf(cube, 7), [[0.5, 0.5, 0.5]]);
  const [one, other] = [await pastOf("one", inCorner), await pastOf("other", () => 0, 9)];
  assert.deepEqual(
    one.knowledge.map(({ groups }) => groups),
    [40, 80, 120, 160, 200],
  );
  assert.equal(one.knowledge[0]!.points.length, 9);
  assert.deepEqual(other.knowledge[2]!.tasks, one.knowledge[0]!.tasks);
  assert.deepEqual(
    one.knowledge[0]!.rates,
    one.knowledge[0]!.points.map((name) => inCorner(lengthOf(name), 0) / 2),
  );
  assert.ok(other.knowledge[0]!.rates.every((rate) => rate === 0));
});

test("of a run with two curricula of points the last counts; other events say nothing", async () => {
  const news = (await play(with_(`{ use: gmm, ${small} }`)(), 6, inCorner)).flatMap((one) => one.news);
  const past = pastCurriculumOf("twice", [...news, { name: "starved" }, ...news]);
  assert.deepEqual(past, pastCurriculumOf("twice", news));
  assert.deepEqual(pastCurriculumOf("none", []), { run: "none", box: [], mixtures: [], knowledge: [] });
});

// ───────────────────────────────────────────────────────────────── which run is followed

const knowledge = (groups: number, known: readonly (number | null)[]): Knowledge => ({
  groups,
  points: known.map((_, i) => `p${i}`),
  tasks: known.map((_, i) => `t${i}`),
  rates: [...known],
});
const knowing = (run: string, ...measured: readonly Knowledge[]): PastCurriculum => ({
  run,
  box,
  mixtures: [],
  knowledge: [...measured],
});

test("the chosen run is the best in the end of the k nearest at the same time: as by going through all", () => {
  const random = randomStream("nearest");
  const rates = (): number[] => Array.from({ length: 6 }, () => random.integer(5) / 4);
  for (let round = 0; round < 200; round++) {
    const now = knowledge(500, rates());
    const pasts = Array.from({ length: 7 }, (_, i) =>
      knowing(`run ${i}`, knowledge(500, rates()), knowledge(1000, rates()), knowledge(1500, rates())),
    );
    const distance = ({ knowledge: [first] }: PastCurriculum): number =>
      Math.hypot(...now.rates.map((rate, i) => rate! - first!.rates[i]!));
    const score = (past: PastCurriculum): number =>
      past.knowledge.at(-1)!.rates.reduce<number>((sum, rate) => sum + rate!, 0);
    for (const k of [1, 3, 7, 20]) {
      const { chosen, near: found } = nearestPast(now, pasts, k)!;
      const limit = pasts.map(distance).sort((a, b) => a - b)[Math.min(k, 7) - 1]!;
      assert.equal(found.length, Math.min(k, 7));
      assert.ok(found.every(({ past }) => distance(past) <= limit + 1e-12));
      assert.ok(near(chosen.distance, distance(chosen.past) / Math.sqrt(6)));
      assert.ok(found.every(({ past }) => score(past) <= score(chosen.past) + 1e-12));
    }
  }
});

test("only points that both have measured count, at the past run's measurement nearest in groups", () => {
  const now = knowledge(400, [1, null, 0.5]);
  const past = knowing(
    "a",
    knowledge(100, [0, 0, 0]),
    knowledge(350, [1, 0, null]),
    knowledge(900, [0.5, 1, 1]),
  );
  const { chosen } = nearestPast(now, [past], 3)!;
  assert.deepEqual({ distance: chosen.distance, score: chosen.score }, { distance: 0, score: 0.5 });
  assert.equal(nearestPast(now, [knowing("b", knowledge(400, [null, 1, null]))], 3), undefined);
  assert.equal(nearestPast(now, [knowing("c")], 3), undefined);
});

// ───────────────────────────────────────────────────────────────── how it is followed

test("a run follows the one that knew as much, draws where that learned, and goes on by itself", async () => {
  const [alike, unlike] = [
    await pastOf("alike", inCorner),
    await pastOf("unlike", (length) => Number(length < 16)),
  ];
  const curriculum = againOf(fileOf(unlike, alike), ", neighbours: 1, explore: 1, uniform: 0")();
  const played = await play(curriculum, 30, inCorner);
  const told = played.map(({ news }) => news.map(({ name }) => name));
  assert.ok(told.slice(0, 2).every((names) => !names.includes("past-run-chosen")));
  assert.ok(told[2]!.includes("past-run-chosen"), "after 40 groups");
  const [chosen] = played[2]!.news.filter(({ name }) => name === "past-run-chosen");
  assert.match(
    chosen!.message,
    /^After 40 groups the curriculum follows the run alike, \d+ mixtures of it: of the 1 past/,
  );
  const share = (steps: readonly Played[]): number => {
    const lengths = steps.flatMap(({ names }) => names.map(lengthOf));
    return lengths.filter((length) => length > 48).length / lengths.length;
  };
  assert.ok(share(played.slice(0, 2)) < 0.5);
  assert.ok(share(played.slice(4)) > 0.8, String(share(played.slice(4))));
  const all = told.flat();
  const worth = worthFollowing(alike, 0.1).length;
  assert.equal(all.filter((name) => name === "past-run-advanced").length, worth - 1);
  assert.equal(all.filter((name) => name === "past-run-over").length, 1);
  const p = curriculum.probabilities(at(30));
  assert.ok(
    near(
      p.reduce((sum, x) => sum + x, 0),
      1,
      1e-9,
    ),
  );
});

test("past runs that have learned nothing are left out, and that is reported", async () => {
  const [good, idle] = [await pastOf("good", inCorner), await pastOf("idle", () => 0)];
  const events = (await play(againOf(fileOf(idle, good))(), 4, inCorner)).flatMap(({ news }) => news);
  const [first] = events;
  assert.deepEqual(
    { name: first!.name, data: first!.data },
    { name: "past-runs-left-out", data: { runs: ["idle"] } },
  );
  assert.ok(events.some(({ message }) => message.includes("follows the run good")));
});

test("one past run alone is followed whatever it knew, and without one a run stays in its pre-run", async () => {
  const past = { ...(await pastOf("only", inCorner)), knowledge: [] };
  const told = (await play(againOf(fileOf(past))(), 4, inCorner)).flatMap(({ news }) => news);
  assert.ok(told.some(({ message }) => /follows the run only, \d+ mixtures of it\.$/.test(message)));
  const alone = (await play(with_(`{ use: again, ${small} }`)(), 8, inCorner)).flatMap(({ news }) => news);
  assert.deepEqual(new Set(alone.map(({ name }) => name)), new Set(["mixture-fitted", "knowledge-measured"]));
  assert.equal(pastCurriculumOf("alone", alone).mixtures.length, 4);
});

const through = (saved: Saved): Saved => ({
  json: JSON.parse(JSON.stringify(saved.json)),
  arrays: Object.fromEntries(
    Object.entries(saved.arrays ?? {}).map(([name, array]) => [name, array.slice()]),
  ),
});

for (const advance of ["reward", "time", "pool"])
  test(`by ${advance}: goes on from any step exactly, though the files of past runs are gone`, async () => {
    const file = fileOf(await pastOf("one", inCorner), await pastOf("two", (length) => length / 64));
    const make = againOf(file, `, advance: ${advance}`);
    const whole = await play(make(), 24, inCorner);
    assert.ok(whole.some(({ news }) => news.some(({ name }) => name === "past-run-chosen")));
    let resumed = make();
    for (let now = 0; now < 24; now++) {
      assert.deepEqual(await step(resumed, now, inCorner), whole[now], `step ${now}`);
      const again = make();
      again.load(through(resumed.save()));
      resumed = again;
      if (now === 0) rmSync(file);
    }
  });

// ───────────────────────────────────────────────────────────────── bad input

const told = async (file: string, least = 0.1): Promise<UserError> => {
  try {
    await play(againOf(file, "", least)(), 1, inCorner);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error("nothing was wrong");
};

test("past runs that cannot be followed are named, with their line, before anything is drawn", async () => {
  const past = await pastOf("good", inCorner);
  const check = async (
    lines: readonly unknown[],
    line: number | undefined,
    message: RegExp,
    action: RegExp,
  ) => {
    const error = await told(fileOf(...lines));
    assert.match(error.message, message);
    assert.match(error.detail.action ?? "", action);
    assert.equal(error.detail.line, line);
    assert.ok(error.detail.file?.endsWith("past.jsonl"));
  };
  await check([], undefined, /no past curriculum in the file/, /gradus runs export RUN --to curriculum/);
  await check([past, { run: "x" }], 1, /not a past curriculum: box: /, /runs export/);
  await check([past, { ...past, mixtures: [] }], 1, /good has recorded no mixtures/, /fit_every/);
  const other = [{ name: "length", low: 1, high: 32 }, box[1]!];
  await check(
    [{ ...past, box: other }],
    0,
    /another box \(length 1 to 32, letters 2 to 26\) than this one/,
    /ranges/,
  );
  await check([past, { ...past, knowledge: [] }], 1, /at none of the points/, /probe_points/);
  const flat = { ...past, box: [box[0]!] };
  await check([flat], 0, /a mixture is not of 1 dimensions and the signal/, /runs export/);
  const missing = await told(join(temporary(), "past.jsonl"));
  assert.match(missing.message, /can't be read: there is no such file/);
  const high = await told(fileOf(past), 5);
  assert.match(high.message, /above 5: the largest is 0\.\d+/);
  assert.match(high.detail.action ?? "", /Lower `least`/);
  assert.throws(() => readPastCurricula([join(fileOf(past), "..")]), /it is a folder/);
});
