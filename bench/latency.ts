/** From a step's commit in the log to the `gradus/changed` that brings its metrics to a client. `[--steps=50]` */
import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { ask } from "../shared/daemon/request.ts";
import { changed, subscribe, type Change } from "../shared/protocol/protocol.ts";
import { Sandbox } from "../test/rpc/daemon.ts";
import { metrics } from "../test/unit/log/sample.ts";
import { measured, option, quantile } from "./report.ts";
import { ingested, writtenRun } from "./store.ts";

const steps = option("steps", 50);
/** Milliseconds after which a step counts as lost. */
const patience = 30_000;

const box = await Sandbox.make();
try {
  const connection = await box.connect();
  const { log } = writtenRun(box.store, "live", steps);
  const heard = new Map<number, () => void>();
  connection.onNotification(changed.method, ({ changes }: { changes: readonly Change[] }) => {
    for (const { kind, run, step, metrics: values } of changes)
      if (run === "live" && kind === "step" && values?.["reward/total"] === step) heard.get(step)?.();
  });
  await ask(connection, subscribe, {});
  log.append(metrics(0, { "reward/total": 0 }));
  log.commit(0);
  await ingested(connection, "live", 0);
  const times: number[] = [];
  for (let step = 1; step <= steps; step++) {
    // Steps do not fall in step with the daemon's own clocks.
    await wait(50 + ((step * 37) % 100));
    const arrived = new Promise<void>((resolve) => heard.set(step, resolve));
    log.append(metrics(step, { "reward/total": step }));
    const start = performance.now();
    log.commit(step);
    const late = wait(patience, "late", { ref: false });
    if ((await Promise.race([arrived, late])) === "late")
      throw new Error(`step ${step} has not reached the client within ${patience / 1000} s`);
    times.push(performance.now() - start);
  }
  log.close();
  const setting = `${steps} steps`;
  measured({ what: "step to client, median", value: quantile(times, 0.5), unit: "ms", goal: 1000, setting });
  measured({ what: "step to client, p95", value: quantile(times, 0.95), unit: "ms", goal: 1000, setting });
} finally {
  await box.end();
}
