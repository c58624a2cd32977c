/** Run folders written by hand, and waiting for the daemon to have read them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { MessageConnection } from "vscode-jsonrpc/node";
import { ask } from "../shared/daemon/request.ts";
import { openAttempt, type LogWriter } from "../shared/log/writer.ts";
import { runsList } from "../shared/protocol/protocol.ts";
import type { RunFile } from "../shared/run/run.ts";
import { start } from "../test/unit/log/sample.ts";

/** A run's folder with its `run.json` and the log of its first attempt, begun. */
export function writtenRun(store: string, id: string, steps: number): { folder: string; log: LogWriter } {
  const folder = join(store, "runs", id);
  mkdirSync(folder, { recursive: true });
  const file: RunFile = {
    id,
    file: join(store, "..", "mini.gradus.yaml"),
    name: id,
    set: [],
    createdAt: new Date().toISOString(),
    steps,
  };
  writeFileSync(join(folder, "run.json"), JSON.stringify(file));
  const log = openAttempt(folder, 0);
  const record = start(0, null, id);
  if (record.kind !== "start") throw new Error("a log begins with its start record");
  log.append({ ...record, steps });
  log.commit(-1);
  return { folder, log };
}

/** Until the store has a run's step, whatever it takes; the run need not be known yet. */
export async function ingested(connection: MessageConnection, run: string, step: number): Promise<void> {
  const until = Date.now() + 30 * 60_000;
  while (Date.now() < until) {
    const { runs } = await ask(connection, runsList, {});
    if ((runs.find(({ id }) => id === run)?.step ?? -1) >= step) return;
    await wait(50);
  }
  throw new Error(`the daemon has not read ${run} within half an hour`);
}
