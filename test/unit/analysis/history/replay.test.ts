import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { UserError } from "../../../../shared/lib/errors.ts";
import { Curricula, type Divisions } from "../../../../server/analysis/history/curricula.ts";
import { historyOf } from "../../../../server/analysis/history/ofRollouts.ts";
import { readHistory, type HistoryGroup } from "../../../../server/analysis/history/read.ts";
import { replay } from "../../../../server/analysis/history/replay.ts";
import type { ReplayedStep } from "../../../../server/analysis/history/standing.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { configOf, near, temporary } from "../../support.ts";

const base = "tasks: [{ env: countdown, numbers: [3, 4] }]\nreward: { terms: { right: equation } }\n";
const sec = `extends: sec\n${base}`;
const place = { file: "h.jsonl", line: 0 };
const group = (
  step: number,
  arm: string,
  rewards: readonly number[],
  more: Partial<HistoryGroup> = {},
): HistoryGroup => ({
  step,
  task: `t${step}`,
  arm,
  rewards,
  place,
  ...more,
});
const played = (text: string, history: readonly HistoryGroup[]): ReplayedStep[] => [
  ...replay(configOf(text), history),
];

test("SEC: binary rewards give 2√(p(1−p)), by the sample deviation, through the EMA and the softmax", () => {
  const [first, second] = played(sec, [
    group(0, "countdown/3", [1, 1, 0, 0, 0, 0, 0, 0]),
    group(1, "countdown/4", [1, 0, 0, 0, 0, 0, 0, 0]),
  ]);
  const signal = (p: number): number => 2 * Math.sqrt(p * (1 - p)) * Math.sqrt(7 / 8);
  const q = 0.5 * signal(0.25);
  // The deviation has 1e-4 added to it.
  assert.ok(near(Number(first!.estimates["countdown/3"]), q, 3e-4));
  assert.equal(first!.estimates["countdown/4"], 0);
  const [a, b] = [first!.estimates["countdown/3"], first!.estimates["countdown/4"]].map(Number);
  assert.ok(near(first!.probabilities["countdown/3"], 1 / (1 + Math.exp((b! - a!) / 0.4))));
  assert.equal(
    second!.estimates["countdown/3"],
    first!.estimates["countdown/3"],
    "arms that are not drawn stay",
  );
  assert.ok(near(Number(second!.estimates["countdown/4"]), 0.5 * signal(0.125), 3e-4));
});

test("recorded advantages are taken as they are", () => {
  const [step] = played(sec, [group(0, "countdown/3", [1, 0], { advantages: [0.5, -0.1] })]);
  assert.ok(near(Number(step!.estimates["countdown/3"]), 0.5 * 0.3));
});

test("rejected groups are observations; admission is the config's own, whatever was recorded", () => {
  const [step] = played(
    `${base}curriculum: { signal: success_rate, estimator: last, admission: { use: success_band, low: 0.2, high: 0.8 } }\n`,
    [
      group(0, "countdown/3", [1, 1, 1, 1], { task: "all", admitted: true }),
      group(0, "countdown/4", [1, 0, 0, 0], { task: "some", admitted: false }),
    ],
  );
  assert.deepEqual(step!.admitted, ["some"]);
  assert.deepEqual(step!.estimates, { "countdown/3": 1, "countdown/4": 0.25 });
});

test("stages: steps of supervised stages count where the history counts them, and each stage has its arms", () => {
  const text = `extends: sec\n${base}stages:\n  - { name: warm, kind: sft, steps: 5 }\n  - { name: easy, steps: 2, tasks: { countdown: { numbers: [3] } } }\n  - { name: full, steps: 5 }\n`;
  for (const offset of [0, 5]) {
    const steps = played(
      text,
      [0, 1, 2, 3].map((step) => group(step + offset, "countdown/3", [1, 0])),
    );
    assert.deepEqual(
      steps.map(({ stage }) => stage),
      ["easy", "easy", "full", "full"],
    );
    assert.deepEqual(Object.keys(steps[0]!.probabilities), ["countdown/3"]);
    assert.deepEqual(Object.keys(steps[3]!.probabilities), ["countdown/3", "countdown/4"]);
  }
});

test("where each arm is one task, the history's tasks are the arms", () => {
  const text = `${base}curriculum: { arms: prompt, signal: success_rate, estimator: last, sampler: { use: proportional, floor: 0 } }\n`;
  const [step] = played(text, [
    group(0, "countdown/3", [1, 0], { task: "x" }),
    group(0, "countdown/3", [1, 1], { task: "y" }),
  ]);
  assert.deepEqual(step!.estimates, { "countdown/x": 0.5, "countdown/y": 1 });
  assert.ok(near(step!.probabilities["countdown/y"], 2 / 3));
  const named = played(text, [group(0, "x", [1, 0], { task: "1" }), group(0, "y", [1, 1], { task: "2" })]);
  assert.deepEqual(named[0]!.estimates, { x: 0.5, y: 1 });
});

test("an unknown arm, a line that is no group and numbers that are none are named with their line", async () => {
  assert.throws(
    () => played(sec, [group(0, "countdown/33", [1, 0])]),
    (error) =>
      error instanceof UserError && /no arm "countdown\/33": did you mean "countdown\/3"/.test(error.message),
  );
  const file = join(temporary(), "h.jsonl");
  for (const [text, message] of [
    ['{"step": 0, "arm": "a", "rewards": [1]}', /task/],
    ["[", /not JSON/],
    ['{"step": 0, "task": "t", "arm": "a", "rewards": [1, "NaN"]}', /rewards\[1\] is NaN/],
    [
      '{"step": 0, "task": "t", "arm": "a", "rewards": [1, "one"]}',
      /"rewards", entry 1, must be a number or `null`$/,
    ],
    ['{"step": 0, "task": "t", "arm": "a", "rewards": 1}', /"rewards" must be a list of numbers$/],
    [
      '{"step": 0, "task": "t", "arm": "a", "rewards": [1], "lengths": [null]}',
      /"lengths", entry 0, must be a number from 0$/,
    ],
    ["", /no group in the file/],
  ] as const) {
    writeFileSync(file, `\n${text}\n`);
    await assert.rejects(
      readHistory(file),
      (error) =>
        error instanceof UserError && message.test(error.message) && (text === "" || error.detail.line === 1),
    );
  }
  await assert.rejects(readHistory(`${file}.none`), /can't be read/);
});

test("a bare NaN or infinity, as Python writes it, is reported as what it is, with what to write", async () => {
  const file = join(temporary(), "h.jsonl");
  for (const [bare, key] of [
    ["NaN", "rewards"],
    ["Infinity", "rewards"],
    ["-Infinity", "advantages"],
  ] as const) {
    const line = { step: 0, task: 'NaN "NaN"', arm: "a", rewards: [1, 1], [key]: [1, "bare"] };
    writeFileSync(file, JSON.stringify(line).replace('"bare"', bare));
    await assert.rejects(
      readHistory(file),
      (error) =>
        error instanceof UserError &&
        error.message.startsWith(`${key}[1] is ${bare}`) &&
        /Write `null`/.test(error.detail.action ?? ""),
    );
  }
});

test("null means a rollout without a reward, and steps are put in order", async () => {
  const file = join(temporary(), "h.jsonl");
  writeFileSync(
    file,
    '{"step": 1, "task": 7, "arm": "a", "rewards": [1, null]}\n{"step": 0, "task": "t", "arm": "a", "rewards": []}\n',
  );
  const groups = await readHistory(file);
  assert.deepEqual(
    groups.map(({ step, task, rewards }) => [step, task, rewards]),
    [
      [0, "t", []],
      [1, "7", [1]],
    ],
  );
});

test("a rollout without a reward takes its advantage and length with it; lists of a group are as long", async () => {
  const file = join(temporary(), "h.jsonl");
  const line = { step: 0, task: "t", arm: "a", rewards: [1, null, 0] };
  writeFileSync(file, JSON.stringify({ ...line, advantages: [0.5, 0, -0.5], lengths: [3, 4, 5] }));
  const [read] = await readHistory(file);
  assert.deepEqual(
    { advantages: read!.advantages, lengths: read!.lengths },
    { advantages: [0.5, -0.5], lengths: [3, 5] },
  );
  for (const key of ["advantages", "lengths"]) {
    writeFileSync(file, JSON.stringify({ ...line, [key]: [1, 2] }));
    await assert.rejects(readHistory(file), new RegExp(`${key} has 2 entries, but rewards has 3`));
  }
});

test("where the config's sources hold the history's tasks, all of theirs are arms", () => {
  const folder = temporary();
  writeFileSync(
    join(folder, "d.jsonl"),
    Array.from({ length: 12 }, (_, i) => JSON.stringify({ q: `q${i}`, level: i })).join("\n"),
  );
  const config = configOf(
    `tasks: [{ name: d, dataset: ./d.jsonl, prompt: "{q}" }]
reward: { terms: { form: { use: format, tags: [a] } } }
curriculum:
  arms: prompt
  estimator: { use: static, by: field, field: level }
  sampler: { use: sorted, order: ascending }
`,
    folder,
  );
  const tasks = new Curricula([], 1).of(config.stages[0]!).arms;
  const id = tasks.task!(3).id;
  const [step] = replay(config, [group(0, "d", [1, 0], { task: id })]);
  assert.equal(Object.keys(step!.estimates).length, tasks.size);
  assert.equal(step!.estimates[`d/${id}`], tasks.task!(3).data["level"]);
});

test("replays of one history make its arms, and compare them with an environment's tasks, once", () => {
  const { stages } = configOf(`${base}curriculum: { arms: prompt, signal: success_rate, estimator: last }\n`);
  const history = [
    group(0, "countdown/3", [1, 0], { task: "x" }),
    group(0, "countdown/3", [1, 1], { task: "y" }),
  ];
  const divisions: Divisions = new Map();
  const [one, other] = [1, 2].map(() => new Curricula(history, 1, divisions).of(stages[0]!));
  assert.equal(one!.arms.size, 2);
  assert.equal(one!.division, other!.division);
  assert.notEqual(one, other);
});

test("arms of a run that divided its tasks more are parts of the config's own", () => {
  const history = [group(0, "countdown/3", [1, 0]), group(0, "countdown/4", [1, 1])];
  const of = (arms: string): unknown =>
    played(
      `${base}curriculum: { arms: ${arms}, signal: success_rate, estimator: last, sampler: boltzmann }\n`,
      history,
    )[0]!.estimates;
  assert.deepEqual(of("task"), { countdown: 0.75 });
  assert.deepEqual(of("none"), { all: 0.75 });
  assert.deepEqual(of("difficulty"), { "countdown/3": 0.5, "countdown/4": 1 });
});

test("a group without any reward trains nothing, whatever the admission, and is no observation", () => {
  const [step] = played(`${base}curriculum: { signal: success_rate, estimator: last }\n`, [
    group(0, "countdown/3", [], { task: "none" }),
    group(0, "countdown/4", [0], { task: "one" }),
  ]);
  assert.deepEqual(step!.admitted, ["one"]);
  assert.deepEqual(step!.estimates, { "countdown/3": null, "countdown/4": 0 });
});

test("a window of rollouts keeps the last of them in their order where it begins within a group", () => {
  const text = `${base}curriculum: { arms: difficulty, signal: success_rate, estimator: { use: window, size: 3, of: rollouts } }\n`;
  const steps = played(text, [group(0, "countdown/3", [0, 0, 1, 1]), group(1, "countdown/3", [1, 0, 0])]);
  assert.deepEqual(
    steps.map(({ estimates }) => estimates["countdown/3"]),
    [2 / 3, 1 / 3],
  );
});

test("supervised stages lie between, turns come again, and what an earlier stage left is of no arm here", () => {
  const stages = [
    "{ name: easy, steps: 20, tasks: { countdown: { numbers: [3] } }, until: { metric: reward/total, above: 0.9, window: 1 } }",
    "{ name: pairs, kind: preference, steps: 2, pairs: rollouts }",
    "{ name: a }",
    "{ name: b, tasks: { countdown: { numbers: [4] } } }",
    "{ name: turns, steps: 4, alternate: [{ stage: a, steps: 1 }, { stage: b, steps: 1 }] }",
    "{ name: mean, kind: merge, merge: [{ stage: easy }, { stage: turns }] }",
  ];
  const text = `extends: sec\n${base}stages:\n${stages.map((stage) => `  - ${stage}\n`).join("")}`;
  const history = [
    group(0, "countdown/3", [1, 0]),
    group(1, "countdown/3", [1, 1]),
    // `easy` ends here; the pairs' own rollouts are observations of no arm.
    group(2, "countdown/3", [1, 0]),
    group(3, "countdown/4", [1, 0]),
    group(4, "countdown/4", [1, 0]),
    // Carried over: `b` has no such arm.
    group(5, "countdown/3", [1, 0]),
    group(6, "countdown/3", [1, 0]),
    group(7, "countdown/4", [1, 0]),
    group(20, "countdown/4", [1, 0]),
  ];
  const steps = played(text, history);
  assert.deepEqual(
    steps.map(({ step, stage }) => [step, stage]),
    [
      [0, "easy"],
      [1, "easy"],
      [4, "a"],
      [5, "b"],
      [6, "a"],
      [7, "b"],
      [20, "b"],
    ],
  );
  assert.equal(steps[3]!.estimates["countdown/4"], 0);
  assert.deepEqual(Object.keys(steps[3]!.probabilities), ["countdown/4"]);
});

test("a run's rollouts hold its history: groups that trained or were rejected, by their arms, in order", () => {
  const rollout = (group: string, index: number, more: Partial<RolloutRow> = {}): RolloutRow => ({
    step: 3,
    group,
    index,
    task: { id: `task of ${group}`, arm: "countdown/3" },
    use: "train",
    tokens: [1, 2],
    reward: 1,
    advantage: 0.5,
    admitted: true,
    ...more,
  });
  const lines = historyOf([
    // What was said to it in the middle counts for no length.
    rollout("b", 1, {
      reward: 0,
      advantage: -0.5,
      tokens: [1, 2, 3],
      origin: ["written", "observed", "observed"],
    }),
    rollout("a", 0, { admitted: false, advantage: null }),
    rollout("b", 0),
    // It could not be scored, and has left its group.
    rollout("b", 2, { reward: null, advantage: null, errors: { right: "timeout" } }),
    rollout("held out", 0, { use: "evaluate" }),
    rollout("tried", 0, { use: "estimate" }),
    rollout("nobody's", 0, { task: { id: "x" } }),
  ]);
  const common = { step: 3, arm: "countdown/3" };
  assert.deepEqual(lines, [
    {
      ...common,
      task: "task of b",
      rewards: [1, 0],
      advantages: [0.5, -0.5],
      admitted: true,
      lengths: [2, 1],
    },
    { ...common, task: "task of a", rewards: [1], admitted: false, lengths: [2] },
  ]);
});

test("`sampler: sorted` goes on through a pass by the groups that the history has", () => {
  const text = `tasks: [{ env: countdown, numbers: [2, 3, 4] }]
reward: { terms: { right: equation } }
curriculum: { estimator: last, signal: success_rate, sampler: { use: sorted, order: descending } }
`;
  const steps = played(text, [
    group(0, "countdown/2", [1, 1]),
    group(1, "countdown/3", [1, 0]),
    group(2, "countdown/4", [0, 0]),
  ]);
  assert.deepEqual(
    steps.map(({ probabilities }) => Object.keys(probabilities).find((arm) => probabilities[arm] === 1)),
    // Arms of which nothing is known come last, by their numbers; then the pass begins again with the easiest.
    ["countdown/3", "countdown/4", "countdown/2"],
  );
});

test("points that a history names are arms, whatever points the config begins with; others are refused", () => {
  const text = `extends: alp-gmm
tasks: [{ env: reverse_text }]
reward: { terms: { right: exact_match } }
curriculum: { arms: { box: { length: [1, 24], letters: [2, 26] }, start: 2 } }
`;
  const name = "reverse_text/length=3,letters=6";
  const [step] = played(text, [group(0, name, [1, 0])]);
  assert.equal(Object.keys(step!.estimates).length, 3);
  assert.ok(Object.hasOwn(step!.probabilities, name));
  for (const other of [
    "reverse_text/length=30,letters=6",
    "reverse_text/length=3",
    "other/length=3,letters=6",
  ])
    assert.throws(() => played(text, [group(0, other, [1, 0])]), /the config has no arm/);
});

test("replayed and measured rollouts are no groups of a history; what a run recorded is with its step", () => {
  const row = (more: Partial<RolloutRow>): RolloutRow => ({
    step: 3,
    group: "g",
    index: 0,
    task: { id: "t", arm: "a", data: { level: 2, text: "x".repeat(99) } },
    reward: 1,
    ...more,
  });
  const curriculum = {
    stage: "only",
    clock: { step: 1, stage_step: 1 },
    seed: 5,
    told: [],
    successes: { g: 1 },
  };
  const lines = historyOf([
    row({ curriculum }),
    row({ group: "replay/1", source: "replay", use: "train" }),
    row({ group: "e", use: "evaluate" }),
    row({ group: "s", use: "estimate" }),
  ]);
  assert.equal(lines.length, 1);
  const { successes, data, curriculum: told } = lines[0]!;
  assert.deepEqual({ successes, data }, { successes: 1, data: { level: 2 } });
  assert.deepEqual(told, { stage: "only", clock: { step: 1, stage_step: 1 }, seed: 5, told: [] });
});
