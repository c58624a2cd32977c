import assert from "node:assert/strict";
import { test } from "node:test";
import { panelRun } from "../../../extension/features/panel/panelRun.ts";
import { evaluationUnderWay } from "../../../extension/features/panel/readEvents.ts";
import type { EventRow } from "../../../shared/protocol/protocol.ts";
import { seriesParts } from "../../../extension/features/panel/seriesParts.ts";
import { mostBuckets, panelVersion } from "../../../shared/editor/runPanel.ts";
import { summaryAt, warmUp } from "../../webview/fakeRun.ts";
import { evaluatedTasks } from "../../webview/fakeForgetting.ts";
import { detailAt, rig, run } from "./panelRig.ts";

test("nothing is sent before the webview is ready; then everything it draws, and no more", async () => {
  const { feed, sent, stepChange } = rig();
  feed.take([stepChange(warmUp + 6)]);
  assert.equal(sent.length, 0);
  await feed.ready();
  assert.equal(sent.length, 1);
  const [message] = sent;
  assert.ok(message?.type === "show");
  assert.equal(message.errors, 1);
  assert.equal(message.run.group, 8);
  assert.deepEqual(message.run.planned, [{ name: "warm-up", kind: "sft", steps: 300 }]);
  assert.ok(!message.series.some(({ metric }) => metric === "memory/tensors"));
  assert.ok(!JSON.stringify(message).includes("secret"), "the authored config stays in the host");
});

test("series are asked for in buckets, those that add up in one question with what their absence says", async () => {
  const { feed, series } = rig();
  await feed.ready();
  await feed.range(1, ["time/update", "policy/entropy"], { from: 10, to: 20 });
  const [whole, part] = series;
  assert.equal(whole?.buckets, mostBuckets);
  assert.deepEqual(
    whole.stacks.map(({ metrics, absent }) => [metrics.length, absent]),
    [
      [3, "unknown"],
      [3, "zero"],
      [6, "zero"],
    ],
  );
  assert.deepEqual(part, {
    run,
    metrics: ["time/update", "policy/entropy"],
    stacks: [],
    buckets: mostBuckets,
    from: 9,
    to: 20,
  });
  const arms = Array.from({ length: 300 }, (_, i) => `curriculum/arm ${i}/share`);
  const parts = seriesParts(["reward/total", ...arms, "policy/entropy"]);
  assert.deepEqual(
    parts.map(({ metrics, stacks }) => [metrics.length, stacks.map((stack) => stack.metrics.length)]),
    [
      [300, [300]],
      [2, []],
    ],
  );
});

test("a later attempt begins inside a bucket: everything is asked for again", async () => {
  const { feed, sent, tick, stepChange } = rig();
  await feed.ready();
  const resumed = stepChange(warmUp + 3);
  feed.take([{ ...resumed, summary: summaryAt(warmUp + 3, { attempt: 1 }) }]);
  await tick();
  assert.deepEqual(
    sent.map(({ type }) => type),
    ["show", "show"],
  );
});

test("tasks that were lost go to the panel with their arms; those whose answers were kept come first", async () => {
  const evaluations = evaluatedTasks.map(({ step, results }) => ({
    step,
    role: "periodic",
    metrics: {},
    results,
  }));
  const kept = "countdown:4,0=24";
  const answers = {
    "gradus/evaluations": { evaluations },
    "gradus/rollouts": { rollouts: [{ group: "g", index: 0, task: { id: kept }, prompt: "3 4=24:" }] },
  };
  const { feed, sent, wheres } = rig(warmUp + 119, { answers });
  await feed.ready();
  const [message] = sent;
  assert.ok(message?.type === "show" && message.turnover !== undefined);
  const { learned, forgotten, listed, arms } = message.turnover;
  assert.deepEqual([learned, forgotten, listed.length], [22, 12, 12]);
  assert.deepEqual(
    arms.map((arm) => arm.forgotten),
    [11, 1, 0],
  );
  assert.deepEqual(listed[0], {
    task: kept,
    arm: arms[1]!.arm,
    solved: warmUp + 40,
    lost: warmUp + 80,
    prompt: "3 4=24:",
  });
  assert.equal(listed[1]!.prompt, null);
  assert.deepEqual(feed.forgotten(kept), listed[0]);
  assert.deepEqual(wheres, ['use == "evaluate"'], "answers of the last evaluation alone");
  assert.equal(feed.forgotten("countdown:0,0=24"), undefined, "it was kept");
});

const failure = {
  term: "bad",
  message: "threw",
  count: 3,
  first: 0,
  last: 2,
  file: "/p/bad.ts",
  line: 3,
  column: 1,
};

test("what rewards failed with is reported next to errors of other kinds, and only its files are opened", async () => {
  const errors = { failures: [failure], kinds: 1, failed: { bad: 3 }, rollouts: 8, otherErrors: 1 };
  const events = [
    { severity: "error", name: "reward-error" },
    { severity: "error", name: "log-damaged" },
    { severity: "warning", name: "reward-error" },
  ];
  const { feed, sent } = rig(warmUp, {
    answers: { "gradus/rewards/errors": errors, "gradus/events": { events } },
  });
  await feed.ready();
  const [message] = sent;
  assert.ok(message?.type === "show");
  assert.equal(message.errors, 1);
  assert.deepEqual(message.failures, { failures: [failure], kinds: 1, failed: { bad: 3 }, rollouts: 8 });
  assert.ok(feed.names("/p/bad.ts") && !feed.names("/etc/passwd"));
});

test("the head says the step that the window's other views say; its charts go on", async () => {
  let shown = summaryAt(warmUp + 5);
  const { feed, sent, tick, stepChange } = rig(warmUp + 5, { shown: () => shown });
  await feed.ready();
  feed.take([stepChange(warmUp + 7)]);
  await tick();
  const last = () => {
    const message = sent.at(-1);
    assert.ok(message?.type === "live");
    return { head: message.run.summary.step, charts: message.steps.at(-1)?.step };
  };
  assert.deepEqual(last(), { head: warmUp + 5, charts: warmUp + 7 });
  shown = summaryAt(warmUp + 7);
  feed.moved();
  await tick();
  assert.equal(last().head, warmUp + 7);
  // The end of a run does not wait for a beat.
  feed.take([
    { ...stepChange(warmUp + 9, "status"), summary: summaryAt(warmUp + 9, { status: "finished" }) },
  ]);
  await tick();
  assert.equal(last().head, warmUp + 9);
});

test("changes are gathered: one message for many steps, and none while one is awaited", async () => {
  const { feed, sent, timers, tick, stepChange } = rig();
  await feed.ready();
  for (let step = 6; step < 16; step++) feed.take([stepChange(warmUp + step)]);
  assert.equal(timers.length, 1, "one timer for ten steps");
  assert.equal(sent.length, 1);
  await tick();
  const live = sent[1];
  assert.ok(live?.type === "live");
  assert.deepEqual(
    live.steps.map(({ step }) => step - warmUp),
    [6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  );
});

test("what a change makes stale is asked for again, once", async () => {
  const { feed, asked, tick, stepChange } = rig();
  await feed.ready();
  asked.length = 0;
  feed.take([stepChange(warmUp + 6)]);
  await tick();
  assert.deepEqual(asked, []);
  feed.take([
    stepChange(warmUp + 40, "evaluation"),
    stepChange(warmUp + 40, "evaluation"),
    stepChange(warmUp + 41, "checkpoint"),
  ]);
  await tick();
  assert.deepEqual([...asked].sort(), ["gradus/evaluations", "gradus/runs/show", "gradus/runs/verdict"]);
});

test("a run is compared with the one before once its own config is known, and once", async () => {
  const show = { ...detailAt(3), config: {} };
  const { feed, asked, tick, stepChange } = rig(3, { answers: { "gradus/runs/show": show } });
  const compared = (): number => asked.filter((method) => method === "gradus/runs/list").length;
  await feed.ready();
  assert.equal(compared(), 0, "it has not begun");
  Object.assign(show, { config: { seed: 1 } });
  for (const step of [4, 5]) {
    feed.take([stepChange(step, "checkpoint")]);
    await tick();
    assert.equal(compared(), 1);
  }
});

test("hidden means silent; shown again means everything again", async () => {
  const { feed, sent, timers, stepChange } = rig();
  await feed.ready();
  feed.hidden();
  feed.take([stepChange(warmUp + 6)]);
  assert.equal(timers.length, 0);
  await feed.ready();
  assert.deepEqual(
    sent.map(({ type }) => type),
    ["show", "show"],
  );
});

test("a step that is committed while everything is being asked for is not lost", async () => {
  const { feed, sent, tick, stepChange } = rig();
  const loading = feed.ready();
  const overtaking = stepChange(warmUp + 9);
  feed.take([overtaking]);
  await loading;
  await tick();
  const seen = sent.flatMap((message) =>
    message.type === "live" ? message.steps.map(({ step }) => step) : [],
  );
  assert.deepEqual(seen, [warmUp + 9]);
});

test("a deleted run is said to be gone; another run's changes are none of its business", async () => {
  const { feed, sent, timers } = rig();
  await feed.ready();
  feed.take([{ cursor: 1, run: "another", kind: "step", step: 1, summary: null }]);
  assert.equal(timers.length, 0);
  feed.take([{ cursor: 2, run, kind: "deleted", step: 1, summary: null }]);
  assert.equal(sent.at(-1)?.type, "gone");
});

test("rollouts of a step are reported by group; a question that fails is reported in the place of its answer", async () => {
  const { feed, sent, failures } = rig();
  await feed.rollouts(7);
  await feed.why({ step: 7, group: "g", index: 0 });
  assert.deepEqual(sent, [
    {
      version: panelVersion,
      type: "rollouts",
      step: 7,
      groups: [
        {
          group: "g",
          task: "task 1",
          arm: "a/1",
          verdict: "left out: all alike",
          prompt: "p",
          right: 2,
          signal: false,
          rollouts: [
            { index: 0, reward: 1, advantage: 0, sound: true, text: "r", whole: true, terms: { a: 1, b: 3 } },
            { index: 1, reward: null, advantage: null, sound: false, text: "", whole: true, terms: {} },
          ],
        },
      ],
      more: 1,
    },
    { version: panelVersion, type: "unanswered", to: "why", message: "no such rollout" },
  ]);
  assert.deepEqual(failures, []);
});

test("what is marked on the lanes is asked for by steps and names, and answered by step and group", async () => {
  const { feed, sent, wheres, parts } = rig();
  await feed.brush(3, { by: "arm", from: 4, to: 9, names: ['a "b"', "c"] });
  await feed.brush(4, { by: "task", from: 4, to: 4, names: [] });
  assert.deepEqual(wheres, ['use == "train" && (arm == "a \\"b\\"" || arm == "c")', 'use == "train"']);
  assert.deepEqual(parts, [
    [4, 9],
    [4, 4],
  ]);
  const [told] = sent;
  assert.ok(told?.type === "brushed" && told.id === 3 && told.more === 1);
  assert.deepEqual(
    told.groups.map(({ step, group, verdict, rollouts }) => [step, group, verdict, rollouts.length]),
    [[warmUp + 5, "g", "left out: all alike", 2]],
  );
  await feed.curriculum(7, { by: "arm", arm: null, family: null, from: 0, to: 9 });
  assert.deepEqual(sent.at(-1), {
    version: panelVersion,
    type: "curriculum",
    id: 7,
    overview: { by: "arm", lanes: [] },
  });
});

test("an evaluation under way is said with what is left of it, until its result or a later step is there", async () => {
  const message = "Evaluating: 412 of 1152 answers, about 40 s left.";
  const event = { run, attempt: 0, step: warmUp + 5, time: 1, severity: "info", name: "evaluating", message };
  const told = async (evaluations: readonly { step: number; role: string }[], step = warmUp + 5) => {
    const rows = evaluations.map((one) => ({ ...one, metrics: {} }));
    const { feed, sent } = rig(step, {
      answers: { "gradus/events": { events: [event] }, "gradus/evaluations": { evaluations: rows } },
    });
    await feed.ready();
    const [first] = sent;
    assert.ok(first?.type === "show");
    return first.run.evaluating;
  };
  assert.equal(await told([{ step: warmUp, role: "first" }]), message);
  assert.equal(await told([{ step: warmUp + 5, role: "periodic" }]), undefined);
  assert.equal(await told([], warmUp + 6), undefined);
  const now = summaryAt(warmUp + 5);
  const row: EventRow = { ...event, severity: "info", action: null, data: null };
  assert.equal(evaluationUnderWay(row, now, []), message);
  assert.equal(
    evaluationUnderWay(row, { ...now, status: "stopped" }, []),
    undefined,
    "it ended in the midst of it",
  );
});

test("the panel knows where a run was imported from", () => {
  const origin = {
    trainer: "verl",
    version: "0.9.1",
    folder: "/out",
    rollouts: 80,
    steps: 5,
    groups: "uid",
    advantages: null,
    copied: false,
  } as const;
  assert.deepEqual(panelRun(detailAt(5), { ...summaryAt(5), origin }).summary.origin, origin);
});
