/** A run's process: opens what the run needs, works through it, and leaves an `end` record whatever happens. */
import { copiedWord } from "../../../shared/lib/copiedWord.ts";
import { join } from "node:path";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { openControl } from "../../../shared/run/control.ts";
import { takeLease, type Lease } from "../../../shared/run/lease.ts";
import type { EndRecord, StartRecord } from "../../../shared/log/records.ts";
import { openAttempt, type LogWriter } from "../../../shared/log/writer.ts";
import type { RunFile } from "../../../shared/run/run.ts";
import { stepsInAll } from "../../config/build/stagePlan.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { isOutOfMemory, keepMemoryNote, memoryAdvice } from "../../analysis/memory/estimate.ts";
import { openModels } from "../models/models.ts";
import { checkpointFolder, checkpointSteps, readState, type RunState } from "../checkpoint/checkpoint.ts";
import { damageIn } from "../checkpoint/sums.ts";
import { Commands } from "./commands.ts";
import { readRunFile, storedConfig, type StoredConfig } from "./files.ts";
import { gitState } from "./git.ts";
import { keepSources } from "./keepSources.ts";
import { beginning, forked, Loop, readLoopState } from "./loop.ts";
import { Recorder } from "../step/log/recorder.ts";
import { FailedSteps } from "./failedSteps.ts";
import type { Session } from "./session.ts";
import { assignment } from "./settings.ts";
import { Trainer } from "./trainer.ts";

interface WorkerOptions {
  readonly folder: string;
  readonly attempt: number;
  readonly version: string;
}
type Ending = Pick<EndRecord, "status" | "message">;

/** Every part of an attempt that has been opened so far, to be closed in the end. */
interface Open {
  readonly run: RunFile;
  readonly stored: StoredConfig;
  readonly recorder: Recorder;
  readonly lease: Lease;
  readonly abort: AbortController;
  readonly closers: (() => Promise<void> | void)[];
}

/** Works on a run until it ends. @returns the exit code: 1 when the run failed */
export async function work(options: WorkerOptions): Promise<number> {
  const { folder, attempt, version } = options;
  const run = readRunFile(folder);
  const lease = takeLease(folder, attempt, version);
  const writer = openAttempt(folder, attempt);
  try {
    return await attemptRun(options, run, lease, writer);
  } finally {
    try {
      writer.close();
    } finally {
      lease.release();
    }
  }
}

async function attemptRun(
  options: WorkerOptions,
  run: RunFile,
  lease: Lease,
  writer: LogWriter,
): Promise<number> {
  const began = performance.now();
  const abort = new AbortController();
  const stop = (): void => abort.abort(new Error("stopped now"));
  process.on("SIGTERM", stop);
  const recorder = new Recorder(writer);
  const closers: Open["closers"] = [];
  let ending: Ending;
  let whole: StoredConfig | undefined;
  let seconds = (): number => (performance.now() - began) / 1000;
  try {
    const stored = storedConfig(options.folder, run);
    whole = stored;
    const loop = await begin(options, { run, stored, recorder, lease, abort, closers });
    seconds = () => loop.seconds;
    ending = { status: await loop.run(), message: "" };
  } catch (error) {
    ending = abort.signal.aborted
      ? { status: "stopped", message: "Stopped at once. The unfinished step is lost." }
      : failed(recorder, error, whole?.config);
  }
  process.off("SIGTERM", stop);
  for (const close of closers.reverse()) await closed(close);
  recorder.append({
    kind: "end",
    step: recorder.step,
    ...ending,
    seconds: seconds(),
    ended_at: new Date().toISOString(),
  });
  recorder.commit();
  recorder.sync();
  return ending.status === "failed" ? 1 : 0;
}

/** What cannot be closed must not cost the run its `end`. */
async function closed(close: Open["closers"][number]): Promise<void> {
  try {
    await close();
  } catch (error) {
    process.stderr.write(`closing: ${messageOf(error)}\n`);
  }
}

function failed(recorder: Recorder, given: unknown, config: RunConfig | undefined): Ending {
  const error = explained(given, config);
  const detail = error instanceof UserError ? error.detail : {};
  const message = sentence(messageOf(error), detail);
  if (!(error instanceof UserError))
    process.stderr.write(`${error instanceof Error ? (error.stack ?? message) : message}\n`);
  const action = detail.action ?? "This is a bug in Gradus: the worker's log in the run's folder says where.";
  recorder.event("error", detail.code ?? "failed", message, { action });
  return { status: "failed", message: `${message} ${action}` };
}

/** Memory that ran out names the number to lower. */
function explained(error: unknown, config: RunConfig | undefined): unknown {
  if (config === undefined || !isOutOfMemory(error)) return error;
  return new UserError(`The run ran out of memory: ${messageOf(error)}`, {
    code: "out-of-memory",
    action: `${memoryAdvice(config)} A resumed run continues from the last checkpoint.`,
    cause: error,
  });
}

/** With the place, where the message itself does not name it. */
function sentence(message: string, { file, line }: UserError["detail"]): string {
  const place = line === undefined ? file : `${file}:${line + 1}`;
  const whole = place === undefined || message.includes(place) ? message : `${message} (${place})`;
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

/** The config, or what is wrong with it. */
function configOf({ stored, run }: Open): RunConfig {
  if (stored.config !== undefined) return stored.config;
  const first = stored.diagnostics.find(({ severity }) => severity === "error");
  throw new UserError(first?.message ?? "The config has errors.", {
    file: first?.file ?? run.file,
    code: first?.rule ?? "invalid-config",
    action: `gradus validate ${copiedWord(run.file)} shows every error.`,
    ...(first === undefined ? {} : { line: first.range.start.line, character: first.range.start.character }),
  });
}

/** Its first attempt begins with a checkpoint of another run. */
const isFork = ({ parent }: RunFile): boolean => parent !== undefined;

const startRecord = (
  { folder: _folder, attempt, version }: WorkerOptions,
  { run, stored }: Open,
  resumed: RunState | undefined,
): Omit<StartRecord, "backend" | "bundles"> => ({
  kind: "start",
  run: run.id,
  attempt,
  resumed_at: attempt === 0 && !isFork(run) ? null : (resumed?.step ?? -1) + 1,
  name: stored.config?.name ?? run.name,
  file: run.file,
  authored: stored.authored,
  config: stored.tree,
  seed: stored.config?.seed ?? run.seed ?? 0,
  steps: stored.config === undefined ? 0 : stepsInAll(stored.config.stages),
  git: gitState(join(run.file, "..")),
  version,
  started_at: new Date().toISOString(),
});

/** Opens the policy, loads rewards, takes up the last checkpoint, and writes the start record: also where that fails. */
async function begin(options: WorkerOptions, open: Open): Promise<Loop> {
  let resumed: RunState | undefined;
  let start: Pick<StartRecord, "backend" | "bundles"> = {
    backend: { name: "none", reason: "the run failed before its log was opened", device: "" },
    bundles: {},
  };
  const note = (more: Partial<typeof start>): void => void (start = { ...start, ...more });
  try {
    if (options.attempt > 0 || isFork(open.run)) resumed = await lastCheckpoint(options.folder);
    open.recorder.step = resumed?.step ?? -1;
    return await assembled(options, open, resumed, note);
  } finally {
    open.recorder.append({ ...startRecord(options, open, resumed), ...start });
    open.recorder.commit();
  }
}

async function assembled(
  options: WorkerOptions,
  open: Open,
  resumed: RunState | undefined,
  note: (more: Partial<Pick<StartRecord, "backend" | "bundles">>) => void,
): Promise<Loop> {
  const config = configOf(open);
  const { recorder, abort, closers, lease } = open;
  const models = await openModels(config);
  closers.push(() => models.close());
  const { policy } = models;
  keepMemoryNote(options.folder, config);
  note({ backend: policy.backend });
  lease.describe({ backend: policy.backend.name });
  const control = openControl(options.folder, options.attempt > 0);
  const commands = new Commands(
    // Whoever was silent for long, asleep or cut off, may have lost the run to another worker meanwhile.
    { ...control, read: () => (lease.check(), control.read()) },
    recorder,
    abort.signal,
  );
  const session: Session = {
    run: open.run.id,
    config,
    policy,
    models,
    recorder,
    failed: new FailedSteps(),
    signal: abort.signal,
    between: () => commands.between(() => loop.checkpoint()),
  };
  const trainer = new Trainer(session, options.folder, commands);
  closers.push(() => trainer.components.close());
  const { bundles, loaded } = await trainer.prepare();
  note({ bundles });
  const keeping = keepSources({
    ...options,
    config,
    loaded,
    report: (message) =>
      recorder.event("warning", "sources-not-kept", `The run's sources are not kept: ${message}.`, {
        action: "Comparisons with this run cannot show what its reward files were. The run goes on.",
      }),
  });
  closers.push(() => keeping.end());
  if (keeping.changed.length > 0)
    recorder.event(
      "info",
      "code-changed",
      `Files have changed since the attempt before: ${keeping.changed.join(", ")}. The resumed steps run them as they are now.`,
      { action: "The run's folder keeps the former texts in sources/texts." },
    );
  let loop = new Loop(session, trainer, beginning);
  if (resumed === undefined) return loop;
  const state = await whole(options.folder, resumed.step, async () => {
    await trainer.restore(checkpointFolder(options.folder, resumed.step), resumed);
    return readLoopState(resumed.loop);
  });
  if (state.entered) await trainer.enter(state.stage, state);
  if (open.stored.settings.length > 0)
    recorder.event(
      "info",
      "settings-kept",
      `Values that were set while the run was live apply again: ${open.stored.settings.map(assignment).join(", ")}.`,
    );
  if (open.stored.changed)
    recorder.event(
      "warning",
      "config-changed",
      "A file that the config extends, or a default, has changed since the run began: the resumed steps follow the new values.",
    );
  loop = new Loop(session, trainer, options.attempt === 0 ? forked(state) : state);
  return loop;
}

/** The newest whole checkpoint; undefined: start again from the beginning. */
async function lastCheckpoint(folder: string): Promise<RunState | undefined> {
  const step = checkpointSteps(folder).at(-1);
  return step === undefined
    ? undefined
    : whole(folder, step, () => Promise.resolve(readState(checkpointFolder(folder, step))));
}

/** Reads a checkpoint. @throws UserError where a part of it is missing or damaged, with what the run can go on from instead */
async function whole<Part>(folder: string, step: number, read: () => Promise<Part>): Promise<Part> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof UserError && error.detail.code === "checkpoint-unclaimed") throw error;
    const path = checkpointFolder(folder, step);
    const earlier = checkpointSteps(folder).filter((one) => one < step);
    const before = earlier.findLast((one) => damageIn(checkpointFolder(folder, one)) === undefined);
    const away = [...earlier.filter((one) => one > (before ?? -1)), step];
    throw new UserError(`The checkpoint of step ${step} cannot be read: ${messageOf(error)}`, {
      file: error instanceof UserError ? (error.detail.file ?? path) : path,
      code: "checkpoint-damaged",
      cause: error,
      action: `Move ${away.map((one) => checkpointFolder(folder, one)).join(", ")} away, then resume the run: it continues from ${before === undefined ? "its beginning" : `the checkpoint of step ${before}`}.`,
    });
  }
}
