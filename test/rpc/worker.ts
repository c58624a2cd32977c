/** A worker for tests of the supervision: the real lease, log and control file, and steps that cost nothing. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { takeLease } from "../../shared/run/lease.ts";
import { readCommitted, attemptsOf, logStart } from "../../shared/log/reader.ts";
import { openAttempt } from "../../shared/log/writer.ts";
import { criteria, end, group, judged, metrics, rollout, start } from "../unit/log/sample.ts";

const [, , , folder = "", , attemptText = "0"] = process.argv;
const attempt = Number(attemptText);
const {
  id,
  file,
  steps = 40,
  seed: delay = 20,
} = JSON.parse(readFileSync(join(folder, "run.json"), "utf8")) as {
  id: string;
  file: string;
  steps?: number;
  seed?: number;
};
const lease = takeLease(folder, attempt, "0.0.0");

/** As a run would from its checkpoint: two steps before the last one that the attempt before committed. */
function resumeStep(): number | null {
  if (attempt === 0) return null;
  const before =
    attemptsOf(folder)
      .filter((other) => other < attempt)
      .at(-1) ?? 0;
  return Math.max(0, (readCommitted(folder, before, logStart, 1e9).steps.at(-1)?.step ?? 0) - 2);
}
const resumedAt = resumeStep();
const log = openAttempt(folder, attempt);
const authored = existsSync(file) ? readFileSync(file, "utf8") : "name: sample\n";
log.append({ ...start(attempt, resumedAt, id), run: id, steps, authored } as ReturnType<typeof start>);
log.commit(-1);

let handled = 0;
let stopping = false;
let paused = false;
function control(step: number): void {
  const path = join(folder, "control.jsonl");
  const lines = existsSync(path)
    ? readFileSync(path, "utf8")
        .split("\n")
        .filter((line) => line !== "")
    : [];
  for (const line of lines.slice(handled)) {
    const { id: asked, action } = JSON.parse(line) as { id: string; action: string };
    if (action === "stop") stopping = true;
    paused = action === "pause" || (paused && action !== "continue" && action !== "stop");
    log.append({ kind: "acknowledge", step, id: asked, accepted: true, message: action });
    log.commit(step);
  }
  handled = lines.length;
}
let step = resumedAt ?? 0;
for (; step < steps && !stopping; step++) {
  log.append(metrics(step, { "reward/total": step, "run/attempt": attempt }));
  log.append(group(step));
  log.append(criteria(step));
  log.append(rollout(step, 0));
  log.append(judged(step, 1, [1, 0]));
  log.commit(step);
  lease.check();
  control(step);
  while (paused && !stopping) {
    await wait(10);
    control(step);
  }
  await wait(delay);
}
log.append(end(step - 1, stopping ? "stopped" : "finished"));
log.commit(step - 1);
log.close();
lease.release();
