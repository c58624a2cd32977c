import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isWatched,
  progressRatio,
  progressText,
  stateWord,
  stepsPlanned,
  type RunOrigin,
} from "../../../shared/run/origin.ts";

const origin: RunOrigin = {
  trainer: "verl",
  version: "0.9.1",
  folder: "/out",
  rollouts: 0,
  steps: 0,
  groups: "uid",
  advantages: null,
  copied: false,
};

test("steps that nobody has planned are not said", () => {
  const followed = { step: 60, steps: 1, origin };
  assert.equal(stepsPlanned(followed), null);
  assert.equal(progressText(followed), "step 60");
  assert.equal(progressRatio(followed), "60");
  assert.equal(progressText({ step: 60, steps: 81, origin }), "step 60 of 80");
  assert.equal(progressText({ step: 1299, steps: 2000 }), "step 1,300 of 2,000");
  assert.equal(progressRatio({ step: -1, steps: 0 }), "0");
});

test("a training of another program is watched, and one that Gradus has started elsewhere runs", () => {
  assert.equal(stateWord({ status: "running", origin }), "watching");
  assert.equal(stateWord({ status: "stopping", origin }), "stopping");
  assert.equal(stateWord({ status: "finished", origin }), "finished");
  assert.equal(stateWord({ status: "running" }), "running");
  const site = { site: "box", folder: "runs/gsm", engine: "trl" } as const;
  assert.equal(isWatched({ status: "running", origin: { ...origin, site } }), false);
});
