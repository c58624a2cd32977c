/** Opening a long run: all its curves through a real daemon; and the daemon's event loop while it reads a large log. `[--steps=10000] [--metrics=40] [--megabytes=200]` (1000 for the goal's 1 GB) */
import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { ask } from "../shared/daemon/request.ts";
import { daemonStatus, metricsSeries } from "../shared/protocol/protocol.ts";
import { Sandbox } from "../test/rpc/daemon.ts";
import { end, metrics, rollout } from "../test/unit/log/sample.ts";
import { measured, median, option, quantile } from "./report.ts";
import { ingested, writtenRun } from "./store.ts";

const steps = option("steps", 10_000);
const count = option("metrics", 40);
const megabytes = option("megabytes", 200);

async function curves(): Promise<void> {
  const box = await Sandbox.make();
  try {
    const names = Array.from({ length: count }, (_, index) => `bench/metric${index}`);
    const { log } = writtenRun(box.store, "long", steps);
    for (let step = 0; step < steps; step++) {
      log.append(
        metrics(step, Object.fromEntries(names.map((name, index) => [name, Math.sin(step / (index + 1))]))),
      );
      log.commit(step);
    }
    log.append(end(steps - 1));
    log.commit(steps - 1);
    log.close();
    const connection = await box.connect();
    await ingested(connection, "long", steps - 1);
    const times: number[] = [];
    for (let round = 0; round < 6; round++) {
      const start = performance.now();
      const { series } = await ask(connection, metricsSeries, { run: "long", metrics: names });
      times.push(performance.now() - start);
      if (series.length !== count || series.some(({ total }) => total !== steps))
        throw new Error("some of the series is missing");
    }
    const setting = `${steps} steps × ${count} metrics`;
    measured({ what: "open a run, first time", value: times[0] ?? 0, unit: "ms", goal: 1000, setting });
    measured({ what: "open a run, again", value: median(times.slice(1)), unit: "ms", goal: 1000, setting });
  } finally {
    await box.end();
  }
}

/** Rollouts of 256 tokens, as an attempt that is over: nothing but reading keeps the daemon busy. */
function writeLarge(store: string): number {
  const { log } = writtenRun(store, "large", 1_000_000);
  const tokens = 256;
  const column = Float32Array.from({ length: tokens }, (_, index) => -index / tokens);
  const record = rollout(0, 0);
  if (record.kind !== "rollout") throw new Error("a rollout record was wanted");
  const columns = {
    tokens: Int32Array.from({ length: tokens }, (_, index) => index),
    logp_old: column,
    logp_new: column,
    entropy: column,
    advantages: column,
  };
  const perRow = tokens * 20 + 1_000;
  const rows = 32;
  const wanted = Math.max(1, Math.round((megabytes * 1e6) / (rows * perRow)));
  for (let step = 0; step < wanted; step++) {
    log.append(metrics(step));
    for (let index = 0; index < rows; index++)
      log.append({
        ...record,
        step,
        index,
        row: { ...record.row, step, index, response: "x".repeat(600) },
        columns,
      });
    log.commit(step);
  }
  log.close();
  return wanted - 1;
}

async function eventLoop(): Promise<void> {
  const box = await Sandbox.make();
  try {
    const connection = await box.connect();
    const last = writeLarge(box.store);
    const start = performance.now();
    let done = false;
    const reading = ingested(connection, "large", last).finally(() => (done = true));
    const trips: number[] = [];
    while (!done) {
      const before = performance.now();
      await ask(connection, daemonStatus, {});
      trips.push(performance.now() - before);
      await wait(20);
    }
    await reading;
    const seconds = (performance.now() - start) / 1000;
    const { eventLoop: delay } = await ask(connection, daemonStatus, {});
    const setting = `${megabytes} MB of log`;
    measured({
      what: "daemon's event loop while reading, p99",
      value: delay.p99,
      unit: "ms",
      goal: 20,
      setting,
    });
    measured({ what: "answer while reading, p99", value: quantile(trips, 0.99), unit: "ms", setting });
    measured({ what: "reading", value: megabytes / seconds, unit: "MB/s", setting });
  } finally {
    await box.end();
  }
}

await curves();
await eventLoop();
