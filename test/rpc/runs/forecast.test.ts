/** Where a recorded run is going, over the wire: by its own values, in the order of the runs that are asked about. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { ask } from "../../../shared/daemon/request.ts";
import {
  configReview,
  metricsSeries,
  runsBoundary,
  runsForecast,
  runsShow,
} from "../../../shared/protocol/protocol.ts";
import { writeForgetfulRun } from "../../support/forgetfulRun.ts";
import { Sandbox, until } from "../daemon.ts";

let box: Sandbox;
beforeEach(async () => {
  box = await Sandbox.make();
});
afterEach(() => box.end());

test("a forecast is of the run's own values; one with too few has none, and a review needs something forgotten", async () => {
  const connection = await box.connect();
  const [long, short] = [await box.start(connection, 12, 1), await box.start(connection, 2, 2)];
  for (const run of [long, short]) await box.reach(connection, run, ({ status }) => status === "finished");
  const { forecasts, firstEndsHigher } = await ask(connection, runsForecast, {
    runs: [long, short],
    more: 4,
  });
  const { series } = await ask(connection, metricsSeries, { run: long, metrics: ["reward/total"] });
  const [found, none] = forecasts;
  assert.deepEqual([none, firstEndsHigher], [null, [null, null]]);
  assert.deepEqual([found?.run, found?.values, found?.last], [long, 12, series[0]!.steps.at(-1)]);
  assert.deepEqual([found?.planned, found?.further.steps], [null, 4]);
  assert.equal(found?.course.steps.at(-1), series[0]!.steps.at(-1)! + 4);
  await assert.rejects(
    ask(connection, runsBoundary, { own: { run: long }, other: { run: short } }),
    /has no evaluation with results by task\./,
  );
  const { authored } = await ask(connection, runsShow, { run: long });
  await assert.rejects(
    ask(connection, configReview, { run: long, text: authored }),
    /forgotten no held-out task/,
  );
});

test("two evaluations of a recorded run meet at their boundary: where curves cross, what is gained, lost and forgotten", async () => {
  const run = writeForgetfulRun(box.store, join(dirname(box.store), "forgetful.gradus.yaml"));
  const connection = await box.connect();
  const found = await until(async () => {
    const { evaluations, ...rest } = await ask(connection, runsBoundary, {
      own: { run },
      other: { run, step: 0 },
    }).catch(() => ({ evaluations: [] }));
    return evaluations.length === 7 && "boundary" in rest ? rest : null;
  }, "the log to be read");
  assert.deepEqual(
    [found.own, found.other],
    [
      { run, step: 60 },
      { run, step: 0 },
    ],
  );
  const { curve, crossing, support, sampling_gap } = found.boundary!;
  // Of 40 tasks 24 are right in 7 of 8 samples; before, 20 were, and each other one once.
  const close = (value: number | undefined, wanted: number): void =>
    assert.ok(Math.abs((value ?? Number.NaN) - wanted) < 1e-12, `${value} is not ${wanted}`);
  close(curve[0]?.own, (24 * 7) / 8 / 40);
  close(curve[0]?.other, (20 * 7 + 20) / 8 / 40);
  close(curve.at(-1)?.own, 24 / 40);
  close(curve.at(-1)?.other, 1);
  close(sampling_gap, 1 - (24 * 7) / 8 / 40);
  assert.equal(crossing, 2);
  const counts = [support.preserved, support.expanded, support.shrunk, support.unsolved];
  assert.deepEqual(
    counts.map(({ length }) => length),
    [24, 0, 16, 0],
  );
  assert.deepEqual([found.greedy?.learned.length, found.greedy?.forgotten.length], [12, 8]);
});
