import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RunSummary, Series } from "../../../shared/protocol/protocol.ts";
import { awaited, type RunView } from "../../../webviews/run/models.ts";
import { tiles } from "../../../webviews/run/tiles.ts";
import { RunSeries } from "../../../webviews/shared/series.ts";
import { runAt } from "../../webview/fakeRun.ts";

const count = 40;
const steps = Array.from({ length: count }, (_, step) => step);
const column = (metric: string, at: (step: number) => number | null): Series => ({
  metric,
  steps,
  values: steps.map(at),
  total: count,
});
const rising = column("reward/total", (step) => step / 100);

function view(
  series: readonly Series[],
  more: {
    readonly passes?: readonly number[];
    readonly stages?: RunView["run"]["stages"];
    readonly summary?: Partial<RunSummary>;
  } = {},
): RunView {
  const own = new RunSeries();
  own.load(series, 0);
  const run = {
    ...runAt(count - 1, more.summary),
    stages: more.stages ?? [{ step: 0, name: "rl", kind: "rl" }],
  };
  return {
    run,
    series: own,
    evaluations: (more.passes ?? []).map((pass, i) => ({
      step: i * 20,
      role: "periodic",
      metrics: { "eval/pass@1": pass },
    })),
  };
}
const reward = (...parameters: Parameters<typeof view>) => tiles(view(...parameters), 0)[0]!;

describe("the reward's tile", () => {
  it("says how it changed since the start, in the colour of a gain", () => {
    assert.deepEqual(reward([rising]), {
      label: "Reward",
      value: "0.345",
      note: "mean of last 10 steps, +0.300 since start",
      tone: "good",
    });
  });

  it("has no colour for a gain while held-out answers get worse", () => {
    const fell = reward([rising], { passes: [0.023, 0] });
    assert.deepEqual(
      { tone: fell.tone, note: fell.note },
      { tone: undefined, note: "mean of last 10 steps, +0.300 since start, while held-out fell" },
    );
    const warned = reward([rising], {
      summary: { warnings: [{ reason: "held-out-worse", label: "held-out got worse", message: "…" }] },
    });
    assert.equal(warned.tone, undefined);
    assert.equal(reward([rising], { passes: [0.2, 0.3] }).tone, "good");
    assert.equal(reward([column("reward/total", (step) => -step)], { passes: [0.3, 0.2] }).tone, "bad");
  });

  it("is the mean of those that have one, and says of how many", () => {
    const some = [column("rollout/count", () => 64), column("rollout/scored", () => 3)];
    const tile = reward([rising, ...some]);
    assert.deepEqual(
      { note: tile.note, tone: tile.tone },
      { note: "mean of 30 of 640 scored, last 10 steps", tone: undefined },
    );
    const lately = [
      column("rollout/count", () => 64),
      column("rollout/scored", (step) => (step < 10 ? 3 : 64)),
    ];
    assert.deepEqual(
      { note: reward([rising, ...lately]).note, tone: reward([rising, ...lately]).tone },
      { note: "mean of last 10 steps", tone: undefined },
    );
  });

  it("compares one stage with itself, and one weight with itself", () => {
    const stages = [
      { step: 0, name: "a", kind: "rl" },
      { step: 20, name: "b", kind: "rl" },
    ];
    assert.equal(reward([rising], { stages }).note, "mean of last 10 steps, +0.100 since the stage began");
    const late = [
      { step: 0, name: "a", kind: "rl" },
      { step: 35, name: "b", kind: "rl" },
    ];
    assert.equal(reward([rising], { stages: late }).note, "mean of last 5 steps");
    const moved = column("reward/brevity/weight", (step) => 1 - step / 100);
    assert.deepEqual(
      { note: reward([rising, moved]).note, tone: reward([rising, moved]).tone },
      { note: "mean of last 10 steps", tone: undefined },
    );
    assert.equal(reward([rising, column("reward/brevity/weight", () => 0.1)]).tone, "good");
  });
});

describe("the errors' tile", () => {
  it("says what failed, on how many, and why", () => {
    const failed = column("reward/bad/errors", () => 40);
    const failure = {
      term: "bad",
      message: "threw Error: no\nanswer",
      count: 1_600,
      first: 0,
      last: 39,
      file: "/p/bad.ts",
      line: 3,
      column: 1,
    };
    const tile = (failures?: Parameters<typeof tiles>[2]) => tiles(view([failed]), 0, failures).at(-1)!;
    assert.equal(tile().note, "1,600 rollouts not scored");
    const told = tile({ failures: [failure], kinds: 1, failed: { bad: 1_600 }, rollouts: 2_000 });
    assert.deepEqual(
      { value: told.value, note: told.note, tone: told.tone },
      {
        value: "1,600",
        note: "bad failed on 1,600 of 2,000 rollouts: threw Error: no answer",
        tone: "error",
      },
    );
    assert.equal(tiles(view([]), 0).at(-1)?.note, "none so far");
    assert.equal(tiles(view([]), 2).at(-1)?.note, "see the log");
  });

  it("says of a run that has ended what it never had, and not that it is to come", () => {
    const note = (label: string, summary: Partial<RunSummary>, stages?: RunView["run"]["stages"]) =>
      tiles(view([rising], { summary, ...(stages && { stages }) }), 0).find((tile) => tile.label === label)
        ?.note;
    assert.equal(note("Held-out pass@1", { status: "running" }), "not evaluated yet");
    assert.equal(note("Held-out pass@1", { status: "finished" }), "never evaluated");
    assert.equal(note("Errors", { status: "running" }), "none so far");
    assert.equal(note("Errors", { status: "finished" }), "none");
    const empty = awaited(view([], { summary: { status: "finished" } }), "held-out results");
    assert.equal(empty, "No held-out results: the run finished without an evaluation.");
    const stages = [{ step: 0, name: "warm-up", kind: "sft" }];
    assert.equal(
      awaited(view([], { summary: { status: "failed", message: "No disk." }, stages }), "reward"),
      "No reward: the run failed before its first training step. No disk.",
    );
  });
});
