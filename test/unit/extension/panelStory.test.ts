/** What the panel's story is told with: intervals and the verdict. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { columnOf } from "../../../extension/features/panel/column.ts";
import { differenceText, runBefore } from "../../../extension/features/panel/runBefore.ts";
import type { Asker } from "../../../extension/features/connection/asker.ts";
import type { Comparison } from "../../../shared/run/comparison.ts";
import { summaryAt } from "../../webview/fakeRun.ts";
import { rig } from "./panelRig.ts";

test("evaluations reach the panel with intervals in the place of their tasks' outcomes", async () => {
  const results = {
    tasks: ["a", "b", "c", "d"],
    arms: ["x", "x", "x", "x"],
    samples: [2, 2, 2, 2],
    right: [0, 1, 2, 0],
    greedy: [null, null, null, null],
  };
  const row = { step: 4, role: "first", metrics: { "eval/pass@1": 0.375 } };
  const { feed, sent } = rig(5, {
    answers: { "gradus/evaluations": { evaluations: [{ ...row, results }] } },
  });
  await feed.ready();
  const [message] = sent;
  assert.ok(message?.type === "show");
  const [shown] = message.evaluations;
  assert.deepEqual({ step: shown?.step, tasks: shown?.tasks }, { step: 4, tasks: 4 });
  const [low, high] = shown!.intervals!["eval/pass@1"]!;
  assert.ok(low > 0 && low < 0.375 && high > 0.375 && high < 1);
  assert.equal("results" in shown!, false);
});

test("the verdict is asked for again when what other views say of the run has changed, and not at each step", async () => {
  const verdict = { state: "flat", label: "flat", headline: "Flat.", since: null };
  const { feed, asked, sent, tick, stepChange } = rig(5, { answers: { "gradus/runs/verdict": { verdict } } });
  await feed.ready();
  asked.length = 0;
  feed.take([stepChange(6)]);
  await tick();
  assert.deepEqual(asked, []);
  const change = stepChange(7);
  feed.take([
    {
      ...change,
      summary: { ...change.summary!, verdict: { state: "flat", label: "flat", headline: "Flat.", since: 3 } },
    },
  ]);
  await tick();
  assert.deepEqual(asked, ["gradus/runs/verdict"]);
  const last = sent.at(-1);
  assert.ok(last?.type === "live");
  assert.deepEqual(last.verdict, verdict);
});

const compared = (changes: Partial<Comparison> = {}): Comparison => {
  const run = { name: "a", label: "", group: 0, step: 9, sources: true };
  return {
    runs: [
      { ...run, id: "1", seed: 1 },
      { ...run, id: "2", seed: 1 },
    ],
    groups: [],
    sources: [],
    config: [],
    series: [],
    heldOut: [],
    arms: [],
    notes: [],
    ...changes,
  };
};

test("what differs from the run before is one line: rewards first, the first three by name", () => {
  assert.equal(differenceText(compared()), "nothing differs");
  const config = ["reward.terms.brevity.weight", "update.optimizer.lr", "rollout.group"].map((path) => ({
    path,
    values: [{ by: "default" as const }, { value: 0.1, by: "file" as const }],
  }));
  const sources = [{ kind: "reward" as const, name: "rewards/brevity.ts", values: ["3f2a", "91bc"] }];
  assert.equal(
    differenceText(compared({ config, sources })),
    "reward rewards/brevity.ts changed, brevity.weight unset → 0.1, optimizer.lr unset → 0.1, and 1 more difference",
  );
});

test("the run before is the newest of the same file that began earlier", async () => {
  const own = summaryAt(9, { id: "now", startedAt: "2026-11-21T19:30:00.000Z" });
  const at = (id: string, startedAt: string, file = own.file) => ({ ...own, id, startedAt, file });
  const runs = [
    own,
    at("later", "2026-11-22T00:00:00.000Z"),
    at("old", "2026-11-01T00:00:00.000Z"),
    at("last", "2026-11-20T00:00:00.000Z"),
    at("other", "2026-11-21T00:00:00.000Z", "/elsewhere.gradus.yaml"),
  ];
  const asked: unknown[] = [];
  const source: Asker = {
    ask: (request, parameters) => {
      if (request.method === "gradus/runs/list") return Promise.resolve({ runs } as never);
      asked.push((parameters as { runs: unknown }).runs);
      return Promise.resolve(compared() as never);
    },
  };
  assert.deepEqual(await runBefore(source, own), { run: "last", text: "nothing differs" });
  assert.deepEqual(asked, [["last", "now"]]);
  await runBefore(source, { ...own, parent: { run: "old", step: 3 } });
  assert.deepEqual(asked[1], ["old", "now"], "a fork's parent");
  assert.equal(await runBefore(source, at("old", "2026-11-01T00:00:00.000Z")), undefined);
});

test("runs open as tabs of one group, and never as a third column", () => {
  const special = { Active: -1, Beside: -2 };
  const open = { runs: [], others: [], text: true };
  assert.equal(columnOf(open, special), special.Beside);
  assert.equal(columnOf({ ...open, text: false }, special), special.Active);
  assert.equal(columnOf({ ...open, others: [2] }, special), 2, "a second column is there already");
  assert.equal(
    columnOf({ ...open, runs: [undefined, 2], others: [1, 3] }, special),
    2,
    "where the other run is",
  );
});

test("of a run's events the timeline gets warnings, errors and changed settings, each kind at a step once", async () => {
  const event = (step: number, severity: string, name: string, message = name) => ({
    step,
    severity,
    name,
    message,
  });
  const events = [
    event(1, "info", "started"),
    event(4, "warning", "slow"),
    event(4, "warning", "slow"),
    event(6, "info", "set", "lr is 1e-4."),
    event(6, "info", "set", "kl is 0."),
    event(7, "error", "log/checksum"),
  ];
  const { feed, sent } = rig(9, { answers: { "gradus/events": { events } } });
  await feed.ready();
  const [message] = sent;
  assert.ok(message?.type === "show");
  assert.deepEqual(
    message.events?.map(({ step, message: text, setting = false }) => [step, text, setting]),
    [
      [4, "slow", false],
      [6, "lr is 1e-4.", true],
      [6, "kl is 0.", true],
      [7, "log/checksum", false],
    ],
  );
});
