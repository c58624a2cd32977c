/** What a simulation and a run's events say to a person. */
import assert from "node:assert/strict";
import { stripVTControlCharacters } from "node:util";
import { test } from "node:test";
import { simulationLines } from "../../../server/cli/text/curriculumText.ts";
import { eventLine, startedLines, summaryLines } from "../../../server/cli/text/runText.ts";
import type { Comparison } from "../../../server/analysis/simulate/compare.ts";
import { scenarios } from "../../../server/analysis/simulate/scenarios.ts";

const compared = (seeds: number, p: number): string => {
  const final = { own: { mean: 0.9, error: 0.01 }, uniform: { mean: 0.7, error: 0.01 } };
  const comparison: Comparison = {
    scenario: "ladder",
    seeds,
    steps: 3,
    final,
    equal: { ...final, rollouts: 96 },
    p: { final: p, equal: p },
    efficiency: 2,
    mix: [
      [0.5, 0.5],
      [0.25, 0.75],
    ],
  };
  return stripVTControlCharacters(simulationLines(scenarios[0]!, comparison).join("\n"));
};

test("of few learners a simulation says that they are too few, and of enough what they show", () => {
  // Of five pairs even the same sign five times has p = 2/2⁵.
  assert.match(compared(5, 0.0625), /0\.900 ± 0\.010, uniform 0\.700 ± 0\.010 \(5 learners are too few/);
  assert.doesNotMatch(compared(5, 0.0625), /no significant difference/);
  assert.match(compared(1, 1), /\(one learner is too few/);
  assert.match(compared(10, 0.002), /better \(p 0\.002\)/);
  assert.match(compared(10, 0.4), /no significant difference/);
  assert.match(compared(10, 0.4), /each level's share of the groups[^\n]*\n {2}level {2}1 .* 25\.0 %\n/);
});

test("an event is a sentence, and then what to do", () => {
  const event = { type: "event", step: 1, severity: "warning", name: "x" } as const;
  const line = (message: string, action: string | null): string =>
    stripVTControlCharacters(eventLine({ ...event, message, action }));
  assert.equal(line("kept 0 of 8 groups", "Widen the band."), "warning kept 0 of 8 groups. Widen the band.");
  assert.equal(line("It ended.", "Go on."), "warning It ended. Go on.");
  assert.equal(line("kept 0 of 8 groups", null), "warning kept 0 of 8 groups");
});

test("one step is one step", () => {
  const [, plan] = startedLines({
    type: "started",
    run: "r",
    name: "n",
    file: "",
    folder: "",
    steps: 3,
    backend: null,
    backendReason: null,
    stages: [
      { name: "easy", kind: "rl", steps: 2 },
      { name: "mean", kind: "merge", steps: 1 },
    ],
  });
  assert.equal(plan, "  easy (rl, 2 steps) → mean (merge, 1 step)");
});

test("a run that failed says that resuming keeps its config", () => {
  const summary = {
    type: "summary",
    run: "r",
    status: "failed",
    steps: 0,
    message: "reverse_text has no parameter digits that could vary",
    evaluation: { first: null, last: null },
    seconds: 1,
    folder: "/p/.gradus/runs/r",
    resume: "gradus runs resume r",
  } as const;
  assert.match(
    summaryLines(summary).at(-1)!,
    /resume r, with its original config and the reward's files as they are now; a changed config is a new run$/,
  );
  assert.match(summaryLines({ ...summary, status: "stopped" }).at(-1)!, /resume r$/);
});
