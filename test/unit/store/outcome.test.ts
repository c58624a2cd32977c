/** What a run that has ended came to: the rules, and a store that reads the facts out of logs. */
import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { fellBeyondChance, warningsOf, type RunFacts } from "../../../shared/run/outcome.ts";
import { placeText, readFailure, readFailureEvent } from "../../../shared/rollouts/failureText.ts";
import type { Store } from "../../../server/store/store.ts";
import { end, metrics, start, type Written } from "../log/sample.ts";
import { newStore, write } from "./support.ts";

const healthy: RunFacts = {
  steps: 20,
  rolledOut: true,
  trained: 5_000,
  admitted: 80,
  moved: true,
  rollouts: 320,
  failed: {},
  failures: [],
  evaluations: [
    { step: -1, metrics: { "eval/pass@1": 0.2, "eval/pass@8": 0.5 } },
    { step: 19, metrics: { "eval/pass@1": 0.36, "eval/pass@8": 0.46 } },
  ],
  prompts: 128,
};
const failure = {
  term: "bad",
  message: "threw Error: no answer",
  count: 300,
  first: 0,
  last: 19,
  file: "/project/bad.ts",
  line: 3,
  column: 9,
};
const reasons = (facts: Partial<RunFacts>): string[] =>
  warningsOf({ ...healthy, ...facts }).map(({ reason }) => reason);
const said = (facts: Partial<RunFacts>): string =>
  warningsOf({ ...healthy, ...facts })
    .map(({ message }) => message)
    .join("\n");

describe("the rules", () => {
  it("find nothing wrong with a run that trained, whatever chance does to its measures", () => {
    assert.deepEqual(warningsOf(healthy), []);
  });

  it("nothing was trained: no token, no admitted group, no gradient", () => {
    assert.match(
      said({ trained: 0, admitted: 0 }),
      /^Nothing was trained in the 20 steps with rollouts: no group was admitted\.$/,
    );
    assert.match(said({ trained: null, admitted: 0 }), /no group was admitted/);
    assert.match(
      said({ trained: 0, admitted: 0, wrong: 1, truncated: 1, limit: 16 }),
      /: no group was admitted, and 100 % of responses were truncated at 16 tokens\. Raise `rollout\.max_tokens`\.$/,
    );
    assert.match(
      said({ trained: 0, admitted: 0, wrong: 0.95, truncated: 0.5, limit: 16 }),
      /since in 95 % of groups no answer was right\. Begin with easier tasks, or with a warm-up/,
    );
    assert.match(
      said({ trained: 0, admitted: 0, failed: { bad: 320 }, failures: [failure] }),
      /: `bad` failed on all 320 rollouts/,
    );
    assert.match(said({ moved: false }), /every gradient was 0/);
    assert.match(
      said({ trained: 0, admitted: 80, failed: { bad: 300 }, failures: [failure] }),
      /^Nothing was trained in the 20 steps with rollouts: `bad` failed on 300 of 320 rollouts: threw Error: no answer \(bad\.ts:3\)\./,
    );
    assert.deepEqual(reasons({ trained: 1, admitted: 1 }), []);
    // What was not recorded is not held against a run.
    assert.deepEqual(reasons({ trained: null, admitted: null, moved: null }), []);
    assert.deepEqual(reasons({ steps: 0, trained: 0, admitted: 0 }), []);
  });

  it("most rewards failed: from half of the rollouts on", () => {
    assert.deepEqual(reasons({ failed: { bad: 160 } }), ["rewards-failed"]);
    assert.deepEqual(reasons({ failed: { bad: 159, other: 159 } }), []);
    assert.match(
      said({ failed: { bad: 320 }, failures: [failure, { ...failure, message: "x" }] }),
      /`bad` failed on all 320 rollouts: threw Error: no answer \(bad\.ts:3\), and 1 other message\. A rollout whose reward fails/,
    );
    assert.deepEqual(reasons({ failed: { bad: 0 }, rollouts: 0 }), []);
  });

  it("held-out answers got worse, but only beyond chance for so many tasks", () => {
    const evaluations = [
      { step: -1, metrics: { "eval/pass@1": 0.023, "eval/pass@8": 0.16, "eval/easy/pass@8": 1 } },
      { step: 9, metrics: { "eval/pass@8": 0.9 } },
      { step: 19, metrics: { "eval/pass@1": 0, "eval/pass@8": 0, "eval/easy/pass@8": 0 } },
    ];
    assert.equal(
      said({ evaluations }),
      "Held-out results got worse by more than chance: pass@8 16.0 % → 0.0 % (128 tasks). Also: pass@1 2.3 % → 0.0 %.",
    );
    assert.deepEqual(reasons({ evaluations, prompts: 16 }), []);
    assert.deepEqual(reasons({ evaluations: evaluations.slice(0, 1) }), []);
    assert.deepEqual(reasons({ evaluations: [] }), []);
    assert.deepEqual(reasons({ evaluations: evaluations.toReversed() }), []);
  });

  it("an interval of counts, at the edges too", () => {
    assert.equal(fellBeyondChance(0.05, 0, 64), false);
    assert.equal(fellBeyondChance(0.05, 0, 1_000), true);
    assert.equal(fellBeyondChance(1, 0, 1), false);
    assert.equal(fellBeyondChance(1, 0.5, 64), true);
    assert.equal(fellBeyondChance(0.5, 0.5, 1e9), false);
    assert.equal(fellBeyondChance(Number.NaN, 0, 64), false);
  });
});

test("a failure's text is the error, and the line that threw it is separate", () => {
  const message = "/a b/bad.ts:score: threw TypeError: no (real) answer (at score (/a b/bad.ts:12:7))";
  assert.deepEqual(readFailure(message), {
    text: "threw TypeError: no (real) answer",
    file: "/a b/bad.ts",
    line: 12,
    column: 7,
  });
  assert.deepEqual(readFailure("/p/bad.ts:default: threw Error: x (at file:///p/a%20b/help.ts:2:1)"), {
    text: "threw Error: x",
    file: "/p/a b/help.ts",
    line: 2,
    column: 1,
  });
  const silent = readFailure("/p/bad.ts:score: gave no answer within 2 s, twice");
  assert.deepEqual(silent, {
    text: "gave no answer within 2 s, twice",
    file: "/p/bad.ts",
    line: null,
    column: null,
  });
  assert.equal(placeText(silent), "bad.ts");
  assert.equal(readFailure("2 values for 3 turns").text, "2 values for 3 turns");
  assert.deepEqual(readFailure("C:\\p\\bad.ts:score: threw Error: x (at score (C:\\p\\bad.ts:3:9))"), {
    text: "threw Error: x",
    file: "C:\\p\\bad.ts",
    line: 3,
    column: 9,
  });
  for (const [place, file] of [
    ["reward.py", "/a b/reward.py"],
    ["lib/help.py", "/a b/lib/help.py"],
    ["/usr/lib/json.py", "/usr/lib/json.py"],
  ])
    assert.deepEqual(
      readFailure(`/a b/reward.py:compute_score: threw ValueError: no (real) answer (${place}:22)`),
      {
        text: "threw ValueError: no (real) answer",
        file,
        line: 22,
        column: 1,
      },
    );
  assert.deepEqual(readFailureEvent("Reward term my term failed: a (b) (12 rollouts)"), {
    term: "my term",
    message: "a (b)",
  });
});

const thrown = "/project/bad.ts:score: threw Error: no answer (at score (/project/bad.ts:3:9))";
const errorEvent = (step: number, message: string, count: number, of = 4): Written => ({
  kind: "event",
  step,
  time: step,
  severity: count === of ? "error" : "warning",
  name: "reward-error",
  message: `Reward term bad failed: ${message}${count === of ? " (every rollout of the step)" : count === 1 ? "" : ` (${count} rollouts)`}`,
  data: { count },
});
const groupOf = (step: number, size = 4): Written => ({
  kind: "group",
  step,
  group: "g",
  task: "t",
  arm: "a",
  admitted: true,
  reason: null,
  successes: 0,
  size,
  signal: null,
});
const numbers = (failed: number, trained: number): Record<string, number> => ({
  "reward/bad/errors": failed,
  "groups/drawn": 1,
  "groups/admitted": 1,
  "tokens/trained": trained,
});

function stored(
  steps: readonly (readonly [readonly Written[], number])[],
  closing: readonly Written[] = [end(0)],
): Store {
  const { folder, store } = newStore();
  const config = { name: "sample", evaluation: { prompts: 128 } };
  const begin = { ...start(), config } as Written;
  write(folder, "a", 0, [
    [[begin], -1],
    ...steps,
    ...(closing.length === 0 ? [] : [[closing, steps.at(-1)![1]] as const]),
  ]);
  store.ingestAll("a");
  return store;
}

test("a store groups a run's failures by term and message, and counts each rollout once", () => {
  const store = stored([
    [[metrics(0, numbers(4, 0)), groupOf(0), errorEvent(0, thrown, 4)], 0],
    [[metrics(1, numbers(3, 9)), groupOf(1), errorEvent(1, thrown, 2), errorEvent(1, "other\nline", 1)], 1],
    [[metrics(2, numbers(1, 9)), groupOf(2), errorEvent(2, thrown, 1)], 2],
  ]);
  const answer = store.queries.rewardErrors({ run: "a", limit: 20 });
  assert.deepEqual(
    answer.failures.map(({ term, message, count, first, last, file, line }) => [
      term,
      message,
      count,
      first,
      last,
      file,
      line,
    ]),
    [
      ["bad", "threw Error: no answer", 7, 0, 2, "/project/bad.ts", 3],
      ["bad", "other\nline", 1, 1, 1, null, null],
    ],
  );
  assert.deepEqual(
    {
      kinds: answer.kinds,
      failed: answer.failed,
      rollouts: answer.rollouts,
      otherErrors: answer.otherErrors,
    },
    { kinds: 2, failed: { bad: 8 }, rollouts: 12, otherErrors: 0 },
  );
  assert.equal(store.queries.rewardErrors({ run: "a", limit: 1 }).failures.length, 1);
  assert.throws(() => store.queries.rewardErrors({ run: "none", limit: 1 }), /no run/);
});

test("a finished run in which nothing trained says so in list, show and summary, and names the line", () => {
  const store = stored(
    [0, 1].map((step) => [[metrics(step, numbers(4, 0)), groupOf(step), errorEvent(step, thrown, 4)], step]),
  );
  const { runs } = store.queries.list({ limit: 10 });
  assert.equal(runs[0]?.status, "finished");
  assert.deepEqual(
    runs[0]?.warnings?.map(({ reason }) => reason),
    ["nothing-trained", "rewards-failed"],
  );
  assert.match(
    runs[0]?.warnings?.[0]?.message ?? "",
    /`bad` failed on all 8 rollouts: threw Error: no answer \(bad\.ts:3\)/,
  );
  assert.deepEqual(store.queries.show({ run: "a" }).warnings, runs[0]?.warnings);
  assert.deepEqual(store.queries.summary("a")?.warnings, runs[0]?.warnings);
});

test("a warm-up that trained does not hide that rewards trained nothing, and a live run is not summed up", () => {
  const warm = metrics(0, { "tokens/trained": 900, "update/grad_norm": 1 });
  const starved: readonly Written[] = [
    metrics(1, { "groups/drawn": 4, "groups/admitted": 0, "tokens/trained": 0 }),
  ];
  const over = stored([
    [[warm], 0],
    [starved, 1],
  ]);
  assert.match(
    over.queries.summary("a")?.warnings?.[0]?.message ?? "",
    /in the 1 step with rollouts: no group was admitted/,
  );
  const live = stored(
    [
      [[warm], 0],
      [starved, 1],
    ],
    [],
  );
  assert.equal(live.queries.summary("a")?.warnings, undefined);
  const supervised = stored([[[warm], 0]]);
  assert.equal(supervised.queries.summary("a")?.warnings, undefined);
});

test("what a later attempt replaced does not count", () => {
  const { folder, store } = newStore();
  write(folder, "a", 0, [
    [[start()], -1],
    ...[0, 1].map(
      (step) => [[metrics(step, numbers(4, 0)), groupOf(step), errorEvent(step, thrown, 4)], step] as const,
    ),
  ]);
  write(folder, "a", 1, [
    [[start(1, 0)], -1],
    ...[0, 1].map((step) => [[metrics(step, numbers(0, 50)), groupOf(step)], step] as const),
    [[end(1)], 1],
  ]);
  store.ingestAll("a");
  assert.equal(store.queries.summary("a")?.warnings, undefined);
  assert.deepEqual(store.queries.rewardErrors({ run: "a", limit: 9 }).failures, []);
});

test("held-out measures count the tasks that there were", () => {
  const evaluation = (step: number, role: "first" | "last", pass: number): Written => ({
    kind: "evaluation",
    step,
    time: step,
    role,
    metrics: { "eval/pass@8": pass },
  });
  const few: Written = {
    kind: "event",
    step: -1,
    time: 0,
    severity: "warning",
    name: "few-held-out",
    message: "There are 12 held-out tasks where evaluation.prompts asks for 128.",
  };
  const course = (more: readonly Written[]): Store =>
    stored([
      [[...more, evaluation(-1, "first", 0.16)], -1],
      [[metrics(0, numbers(0, 9)), groupOf(0), evaluation(0, "last", 0)], 0],
    ]);
  assert.equal(course([]).queries.summary("a")?.warnings?.[0]?.label, "held-out got worse");
  assert.equal(course([few]).queries.summary("a")?.warnings, undefined);
});
