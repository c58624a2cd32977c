/** Where a recorded run is going, over the wire: by its own values, in the order of the runs that are asked about. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { ask } from "../../../shared/daemon/request.ts";
import {
  configReview,
  metricsSeries,
  runsBoundary,
  runsForecast,
  runsShow,
} from "../../../shared/protocol/protocol.ts";
import { Sandbox } from "../daemon.ts";

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
