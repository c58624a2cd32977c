/** Charts of long runs read cells in place of points: the same buckets, whatever was packed, loose, resumed or written again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Buckets, widthFor } from "../../../shared/lib/buckets.ts";
import { runFolder } from "../../../server/store/files.ts";
import type { Store } from "../../../server/store/store.ts";
import { openAttempt } from "../../../shared/log/writer.ts";
import { start } from "../log/sample.ts";
import { newStore } from "./support.ts";

const metric = "reward/total";
const valueAt = (step: number): number =>
  step % 997 === 5 ? Number.NaN : Math.sin(step / 50) + (step === 4321 ? 99 : 0);

function fill(
  folder: string,
  run: string,
  attempt: number,
  steps: readonly number[],
  resumed: number | null,
): void {
  const log = openAttempt(runFolder(folder, run), attempt);
  log.append({ ...start(attempt, resumed, run), run } as ReturnType<typeof start>);
  log.commit(-1);
  steps.forEach((step, at) => {
    const value = valueAt(step);
    log.append({
      kind: "metrics",
      step,
      time: step,
      values: { [metric]: Number.isNaN(value) ? "NaN" : value },
    });
    if (at % 500 === 499) log.commit(step);
  });
  log.commit(steps.at(-1)!);
  log.close();
}
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, at) => from + at);

/** As points give them. */
function expected(steps: readonly number[], first: number, last: number, most: number) {
  const shown = steps.filter((step) => step >= first && step <= last);
  const buckets = new Buckets(widthFor(first, last, most));
  for (const step of shown) buckets.add(step, valueAt(step));
  return { buckets, shown };
}
function check(
  store: Store,
  run: string,
  steps: readonly number[],
  from: number,
  to: number,
  most: number,
): void {
  const { series, step } = store.queries.series({
    run,
    metrics: [metric],
    from: from - 1,
    to,
    maxPoints: 2000,
    buckets: most,
  });
  const { buckets, shown } = expected(steps, from, Math.min(to, step), most);
  const [found] = series;
  assert.deepEqual(
    [found?.width, found?.total, found?.steps, found?.begins, found?.counts],
    [buckets.width, shown.length, buckets.steps, buckets.begins, buckets.counts],
  );
  assert.deepEqual([found?.low, found?.high], [buckets.low, buckets.high]);
  found!.values.forEach((value, at) => assert.ok(Math.abs(Number(value) - Number(buckets.mean(at))) < 1e-9));
  assert.deepEqual([found?.head?.steps, found?.tail?.steps], [shown.slice(0, 10), shown.slice(-32)]);
}

test("cells and points give the same buckets at every zoom", () => {
  const { folder, store } = newStore();
  const steps = range(0, 20_000);
  fill(folder, "long", 0, steps, null);
  store.ingestAll("long");
  for (const [from, to, most] of [
    [0, 19_999, 100],
    [0, 19_999, 600],
    [3, 12_345, 50],
    [100, 800, 20],
    [19_000, 19_999, 30],
  ] as const)
    check(store, "long", steps, from, to, most);
});

test("a resumed run, and steps that are written again, are read as they stand", () => {
  const { folder, store } = newStore();
  fill(folder, "resumed", 0, range(0, 9_000), null);
  fill(folder, "resumed", 1, range(7_777, 15_000), 7_777);
  store.ingestAll("resumed");
  check(store, "resumed", range(0, 15_000), 0, 14_999, 40);
  // Late points of steps that have been packed.
  fill(folder, "again", 0, [...range(0, 5_000), ...range(100, 200)], null);
  store.ingestAll("again");
  check(store, "again", range(0, 5_000), 0, 4_999, 25);
});
