import assert from "node:assert/strict";
import { test } from "node:test";
import {
  curriculumQuery,
  groupsQuery,
  rolloutsQuery,
  tasksQuery,
} from "../../../shared/protocol/protocol.ts";
import { openDatabase } from "../../../server/store/drivers/driver.ts";
import { databasePath } from "../../../server/store/files.ts";
import { migrate } from "../../../server/store/schema.ts";
import type { Store } from "../../../server/store/store.ts";
import { group, made, rollout, start, type Written } from "../log/sample.ts";
import { newFolder, newStore, plain, write } from "./support.ts";
import { mkdirSync } from "node:fs";

const tasksOf = (store: Store, changes: object = {}) =>
  store.queries.tasks(tasksQuery.params.parse({ run: "a", ...changes })).tasks;
const drawn = (step: number, changes: object): Written => ({ ...group(step), ...changes });

test("a made task is there with its parents, its author and its difficulty though no rollout of it was kept", () => {
  const { folder, store } = newStore();
  const child = made(2, "grandchild", ["countdown 2 2"]);
  write(folder, "a", 0, [
    [[start()], -1],
    [[made(1), made(1, "other")], 1],
    [[child, drawn(2, { task: "countdown 2 2", successes: 3, size: 4 })], 2],
    [[drawn(3, { task: "countdown 2 2", successes: 4, size: 4 })], 3],
  ]);
  store.ingestAll("a");
  const [first, second, third] = tasksOf(store);
  assert.deepEqual(first, {
    id: "countdown 2 2",
    source: "easier",
    prompt: "Make 4 from 2 and 2 →",
    answer: null,
    parents: ["countdown 3 4"],
    generation: 1,
    step: 1,
    transform: "simplify",
    author: "program",
    answered: "program",
    tried: { successes: 1, rollouts: 4 },
    seen: { groups: 2, successes: 7, rollouts: 8 },
  });
  assert.deepEqual(second?.seen, { groups: 0, successes: 0, rollouts: 0 });
  assert.deepEqual(third?.parents, ["countdown 2 2"]);
  assert.deepEqual(
    tasksOf(store, { limit: 2 }).map(({ id }) => id),
    ["other", "grandchild"],
  );
  assert.deepEqual(tasksOf(store, { source: "harder" }), []);
});

test("tasks of steps that were done again count once; those of a deleted run are gone", () => {
  const { folder, store } = newStore();
  write(folder, "a", 0, [
    [[start()], -1],
    [[made(1)], 1],
    [[made(2, "lost")], 2],
  ]);
  write(folder, "a", 1, [
    [[start(1, 2)], 1],
    [[made(2, "kept")], 2],
  ]);
  store.ingestAll("a");
  assert.deepEqual(
    tasksOf(store).map(({ id }) => id),
    ["countdown 2 2", "kept"],
  );
  store.forgetRun("a");
  while (store.purge("a"));
  const { database } = openDatabase(databasePath(folder), { anyThread: true, readonly: true });
  assert.deepEqual(database.prepare("SELECT * FROM task").all(), []);
  database.close();
});

/** Arms that are single tasks, in two families; and one of them made. */
const families = (): readonly (readonly [readonly Written[], number])[] =>
  Array.from({ length: 6 }, (_, step) => {
    const number = step % 3;
    const family = number === 2 ? "easier" : "countdown/3";
    const task = number === 2 ? "countdown 2 2" : `t${number}`;
    const name = `g${step}`;
    const record = {
      ...drawn(step, { group: name, task, arm: `source/${task}`, family }),
      ...{ admitted: step !== 4, reason: step === 4 ? "all wrong" : null },
    };
    const rollouts = [rollout(step, 0, name), rollout(step, 1, name)].map((one): Written => {
      if (one.kind !== "rollout") return one;
      return { ...one, row: { ...one.row, task: { env: "countdown", arm: `source/${task}`, id: task } } };
    });
    return [[...(step === 1 ? [made(1)] : []), record, ...rollouts], step] as const;
  });

test("arms that are single tasks are counted by their families, and a family opens into them", () => {
  const { folder, store } = newStore();
  write(folder, "a", 0, [[[start()], -1], ...families()]);
  store.ingestAll("a");
  const ask = (changes: object) =>
    store.queries.curriculum(curriculumQuery.params.parse({ run: "a", ...changes }));
  const whole = ask({ by: "auto" });
  assert.equal(whole.by, "family");
  assert.deepEqual(
    whole.lanes.map(({ name, groups, tasks }) => [name, groups, tasks]),
    [
      ["countdown/3", 4, 2],
      ["easier", 2, 1],
    ],
  );
  const opened = ask({ by: "arm", family: "easier" });
  assert.deepEqual(
    { family: opened.family, columnsLength: opened.columns.length },
    { family: "easier", columnsLength: 2 },
  );
  const [lane] = opened.lanes;
  assert.equal(lane?.name, "source/countdown 2 2");
  assert.deepEqual(lane.made?.parents, ["countdown 3 4"]);
  assert.deepEqual({ author: lane.made.author, step: lane.made.step }, { author: "program", step: 1 });
  assert.equal(ask({ by: "arm", family: "countdown/3" }).lanes[0]?.made, undefined);
});

test("without families the lanes are arms", () => {
  const { folder, store } = newStore();
  write(folder, "a", 0, [[[start()], -1], ...plain(0, 3)]);
  store.ingestAll("a");
  assert.equal(store.queries.curriculum(curriculumQuery.params.parse({ run: "a", by: "auto" })).by, "arm");
});

test("groups and rollouts of a part of the steps, by family", () => {
  const { folder, store } = newStore();
  write(folder, "a", 0, [[[start()], -1], ...families()]);
  store.ingestAll("a");
  const part = { run: "a", from: 1, to: 4 };
  const groups = (changes: object) =>
    store.queries.groups(groupsQuery.params.parse({ ...part, ...changes })).groups;
  const rollouts = (changes: object) =>
    store.queries.rollouts(rolloutsQuery.params.parse({ ...part, ...changes }));
  assert.deepEqual(
    rollouts({ where: 'family == "countdown/3"' }).rollouts.map(({ step }) => step),
    [1, 1, 3, 3, 4, 4],
  );
  let unread = 0;
  while (store.ingest.rollouts.next("a")) unread += 1;
  assert.equal(unread, 2, "steps outside the range were not read");
  assert.equal(rollouts({}).total, 8);
  assert.equal(rollouts({ step: 2 }).total, 2);
  assert.equal(rollouts({ step: 9 }).total, 0);
  assert.deepEqual(
    groups({ by: "family", names: ["countdown/3"] }).map(({ step, reason }) => [step, reason]),
    [
      [1, null],
      [3, null],
      [4, "all wrong"],
    ],
  );
  assert.deepEqual(
    groups({ by: "task", names: ["t0", "t1"], limit: 2 }).map(({ step }) => step),
    [1, 3],
  );
});

test("a store of the version before keeps its rows", () => {
  const folder = newFolder();
  mkdirSync(folder, { recursive: true });
  const { database } = openDatabase(databasePath(folder), { anyThread: true });
  migrate(database, folder, 6);
  database.exec("INSERT INTO grp VALUES ('a', 0, 0, 0, 'g', 't', 'countdown/3', 1, NULL, 1, 2, NULL, NULL)");
  migrate(database, folder);
  assert.deepEqual(database.prepare("SELECT arm, family FROM grp").all(), [
    { arm: "countdown/3", family: null },
  ]);
  database.close();
});
