/**
 * Starts, stops, resumes and deletes runs, and notices when a worker has died. Everything it knows is in files: a
 * daemon that is killed costs nothing, the next one adopts what it finds.
 */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { placeText } from "../../shared/daemon/place.ts";
import { appendControl } from "../../shared/run/controlFile.ts";
import { UserError, messageOf } from "../../shared/lib/errors.ts";
import { busyElsewhere, holderOf, isWorkerOf, readWorker, workerIsAlive } from "../../shared/run/lease.ts";
import { isSettled } from "../../shared/protocol/runStatus.ts";
import { attemptsOf } from "../../shared/log/reader.ts";
import {
  liveStatuses,
  type ParamsOf,
  type ResultOf,
  type RunStatus,
  type RunSummary,
  type runsControl,
  type RunDetail,
  type runsDelete,
  type runsFork,
  type runsGc,
  type runsMark,
  type runsImport,
  type runsResume,
  type runsStart,
} from "../../shared/protocol/protocol.ts";
import { writeMarks, type MarkChange } from "../../shared/run/marks.ts";
import { trainerNames } from "../../shared/run/origin.ts";
import { isRunId } from "../../shared/run/runId.ts";
import { authoredPath, readRunFile, runFolder } from "../store/files.ts";
import type { RemoteStore } from "../store/remote.ts";
import { readyToRun } from "./admit.ts";
import { garbageOf } from "./experiments/garbage.ts";
import { prepareFork } from "./experiments/fork.ts";
import { takeCheckpoint } from "../run/checkpoint/fork.ts";
import { StalledRuns } from "./stalledRuns.ts";
import { removeTrash, toTrash } from "./trash.ts";
import { makeRunFolder } from "./newRun.ts";
import { goneFolder, interruption, unwritable } from "./interruption.ts";
import { newImport } from "./newImport.ts";
import { startWorker, type WorkerProgram } from "./worker.ts";

/** How often a worker's process is looked for. */
const lookEvery = 500;
/** `stop --now` asks, then insists. */
const killAfter = 5_000;

const isLive = (status: RunStatus): boolean => liveStatuses.includes(status);

export class Supervisor {
  private readonly live = new Set<string>();
  /** Runs being settled, resumed or deleted: one hand at a time. */
  private readonly busy = new Set<string>();
  private readonly settling = new Map<string, Promise<void>>();
  /** Runs that have ended while the store cannot be written: why. */
  private readonly unsettled = new Map<string, string>();
  private readonly starting = new Map<string, Promise<ResultOf<typeof runsStart>>>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly store: string,
    private readonly remote: RemoteStore,
    private readonly program: WorkerProgram,
    private readonly log: (text: string) => void,
  ) {
    this.stalled = new StalledRuns(remote);
    this.timer = setInterval(() => this.look(), lookEvery);
  }

  private readonly stalled: StalledRuns;

  get liveRuns(): number {
    return this.live.size;
  }

  close(): void {
    clearInterval(this.timer);
  }

  /** What an earlier daemon left: runs that go on, runs that died meanwhile, runs half deleted. */
  async adopt(): Promise<void> {
    for (const run of await this.remote.call("trashed"))
      await this.emptyTrash(run).catch((error: unknown) => this.log(messageOf(error)));
    for (const { run, status } of await this.remote.call("scan")) {
      await this.remote.call("ingest", run);
      if (isLive(status) || workerIsAlive(this.folder(run))) this.live.add(run);
    }
  }

  /** Something in the run's folder changed. */
  async touched(run: string): Promise<void> {
    if (!isRunId(run) || this.busy.has(run) || !existsSync(this.folder(run))) return;
    if (!this.live.has(run) && workerIsAlive(this.folder(run))) this.live.add(run);
    await this.remote.call("ingest", run);
  }

  // ───────────────────────────────────────────── start and resume

  start(parameters: ParamsOf<typeof runsStart>): Promise<ResultOf<typeof runsStart>> {
    return this.once(parameters.key, () => {
      const { name, converted } = readyToRun(parameters);
      return makeRunFolder(this.store, name, parameters, converted);
    });
  }

  /** A new run that begins with a checkpoint of another, live or not. */
  async fork(parent: RunDetail, parameters: ParamsOf<typeof runsFork>): Promise<ResultOf<typeof runsFork>> {
    const started = await this.once(parameters.key, () => {
      const { name, text, step, loop, ...asked } = prepareFork(parent, parameters);
      const { python = readRunFile(parent.folder)?.python } = parameters;
      const own = {
        ...asked,
        ...(python === undefined ? {} : { python }),
        parent: { run: parent.id, step },
        ...(parameters.fresh ? { fresh: true } : {}),
      };
      return makeRunFolder(this.store, name, own, text, (folder) =>
        takeCheckpoint(parent.folder, folder, step, loop),
      );
    });
    return { ...started, step: readRunFile(started.folder)?.parent?.step ?? -1 };
  }

  /** Equal keys start one run. @param make its folder; @returns its id */
  private once(key: string | undefined, make: () => string): Promise<ResultOf<typeof runsStart>> {
    if (key === undefined) return this.startNew(key, make);
    const present = this.starting.get(key);
    if (present !== undefined) return present;
    const starting = this.startNew(key, make).finally(() => this.starting.delete(key));
    this.starting.set(key, starting);
    return starting;
  }

  private async startNew(key: string | undefined, make: () => string): Promise<ResultOf<typeof runsStart>> {
    const earlier = key === undefined ? null : await this.remote.call("byStartKey", key);
    if (earlier !== null) return { run: earlier, folder: this.folder(earlier) };
    const run = make();
    await this.remote.call("register", run, key ?? null);
    this.launch(run, readRunFile(this.folder(run))?.file ?? this.folder(run), 0);
    this.log(`run ${run} started`);
    return { run, folder: this.folder(run) };
  }

  /** The worker reads the folder until whoever writes to it has ended. */
  async followFolder(parameters: ParamsOf<typeof runsImport>): Promise<ResultOf<typeof runsImport>> {
    const { id, note } = newImport(this.store, parameters);
    await this.remote.call("register", id, null);
    this.launch(id, parameters.folder, 0);
    this.log(`run ${id} follows ${parameters.folder}`);
    return { run: id, folder: this.folder(id), note };
  }

  private launch(run: string, file: string, attempt: number): void {
    startWorker(this.program, this.folder(run), file, attempt, () => void this.settle(run));
    this.live.add(run);
    this.unsettled.delete(run);
  }

  /** The next attempt, from the last checkpoint. */
  async resume({ run }: ParamsOf<typeof runsResume>): Promise<ResultOf<typeof runsResume>> {
    const summary = await this.existing(run);
    return this.alone(run, async () => {
      this.refuseLive(run, "resumed");
      if (!existsSync(this.folder(run)))
        throw new UserError(goneFolder(run, this.folder(run)), {
          file: this.folder(run),
          code: "refused",
          action: "Restore the folder, or delete the run from the store.",
        });
      // What the attempt before wrote comes first: its end would otherwise be taken for this one's.
      await this.remote.call("drain", run);
      const { status, origin } = await this.existing(run);
      if (origin !== undefined)
        throw new UserError(
          `Run ${run} was imported from ${trainerNames[origin.trainer]}: it has no checkpoint to resume from.`,
          {
            file: origin.folder,
            code: "refused",
            action: "Resume it with its own trainer, and import it again.",
          },
        );
      if (status === "finished")
        throw new UserError(`Run ${run} has finished, so there is nothing to resume.`, {
          code: "refused",
          action: "Start a new run of its config: gradus run.",
        });
      const file = readRunFile(this.folder(run))?.file ?? summary.file;
      if (!existsSync(file) && !existsSync(authoredPath(this.folder(run))))
        throw new UserError(`The run's config ${file} is gone.`, {
          file,
          code: "refused",
          action: "Restore the file, then resume.",
        });
      const attempt =
        Math.max(-1, ...attemptsOf(this.folder(run)), readWorker(this.folder(run))?.attempt ?? -1) + 1;
      await this.remote.call("setStatus", run, "starting", null, attempt);
      this.launch(run, file, attempt);
      this.log(`run ${run} resumed as attempt ${attempt}`);
      return { run, attempt };
    });
  }

  // ───────────────────────────────────────────── control and delete

  async control({
    run,
    action,
    now,
    path,
    value,
  }: ParamsOf<typeof runsControl>): Promise<ResultOf<typeof runsControl>> {
    const { status } = await this.existing(run);
    const holder = holderOf(this.folder(run));
    if (holder.state === "none") {
      throw new UserError(`Run ${run} is not live (${status}), so there is nothing to ${action}.`, {
        code: "refused",
        action:
          status === "finished"
            ? "See its state: gradus runs show."
            : `Resume it: gradus runs resume ${run}.`,
      });
    }
    if (action === "set" && (path === undefined || value === undefined))
      throw new UserError("A setting needs a path and a value.", {
        code: "refused",
        action: "Give both `path` and `value`.",
      });
    if (action === "stop" && now && holder.state === "elsewhere")
      throw new UserError(
        `Run ${run} runs ${placeText(holder.place)} and cannot be ended at once from here.`,
        {
          code: "refused",
          action: "End it there, or stop it without --now, so that it ends after its step.",
        },
      );
    const id = randomBytes(6).toString("hex");
    const said = action === "set" ? { path, value } : {};
    appendControl(
      this.folder(run),
      `${JSON.stringify({ id, action, ...said, at: new Date().toISOString() })}\n`,
    );
    if (action === "stop") await this.remote.call("setStatus", run, "stopping", null);
    if (action === "stop" && now) this.signal(run);
    return { id };
  }

  /** The step in flight is lost, nothing that was committed. */
  private signal(run: string): void {
    const folder = this.folder(run);
    const holder = holderOf(folder);
    if (holder.state !== "here") return;
    const { identity } = holder;
    process.kill(identity.pid, "SIGTERM");
    setTimeout(() => {
      if (isWorkerOf(folder, identity)) process.kill(identity.pid, "SIGKILL");
    }, killAfter).unref();
  }

  async delete({ run }: ParamsOf<typeof runsDelete>): Promise<ResultOf<typeof runsDelete>> {
    await this.existing(run);
    return this.alone(run, async () => {
      this.refuseLive(run, "deleted");
      this.live.delete(run);
      toTrash(this.store, run);
      await this.emptyTrash(run);
      this.log(`run ${run} deleted`);
      return { deleted: true };
    });
  }

  /** What people say of it, live or not. */
  async mark(run: string, change: MarkChange): Promise<ResultOf<typeof runsMark>> {
    await this.existing(run);
    const marks = writeMarks(this.folder(run), change);
    await this.remote.call("marked", run);
    return marks;
  }

  /** What could go; goes where that is asked for, a run or a checkpoint at a time. */
  async collect({ delete: remove, ...wish }: ParamsOf<typeof runsGc>): Promise<ResultOf<typeof runsGc>> {
    const { runs } = await this.remote.call("list", { limit: Number.MAX_SAFE_INTEGER });
    const garbage = garbageOf(this.store, runs, wish);
    if (remove)
      for (const { kind, run, path } of garbage) {
        if (kind === "run") await this.delete({ run });
        else
          await this.alone(run, async () => {
            this.refuseLive(run, "tidied");
            await rm(path, { recursive: true, force: true });
          });
      }
    return { garbage, deleted: remove };
  }

  private async emptyTrash(run: string): Promise<void> {
    await this.remote.call("forgetRun", run);
    await removeTrash(this.store, run);
  }

  // ───────────────────────────────────────────── liveness

  private look(): void {
    this.stalled.look([...this.live]).catch((error: unknown) => this.log(messageOf(error)));
    for (const run of this.live) {
      try {
        if (workerIsAlive(this.folder(run)))
          this.remote.call("ingest", run).catch((error: unknown) => this.log(messageOf(error)));
        else void this.settle(run);
      } catch (error) {
        // In a timer: what is wrong with one run's folder must not end the daemon.
        this.live.delete(run);
        this.log(`run ${run}: ${messageOf(error)}`);
      }
    }
  }

  /** The worker is gone: everything it wrote is read first, and only then is it said that it did not finish. */
  private async settle(run: string): Promise<void> {
    if (this.busy.has(run)) return;
    const work = this.settleAlone(run);
    this.settling.set(run, work);
    await work;
    this.settling.delete(run);
  }

  private async settleAlone(run: string): Promise<void> {
    this.busy.add(run);
    try {
      const folder = this.folder(run);
      if (workerIsAlive(folder)) return;
      await this.remote.call("drain", run);
      const status = await this.remote.call("recordedStatus", run);
      if (status === "stopping")
        await this.remote.call(
          "setStatus",
          run,
          "stopped",
          "Stopped at once; the step in progress was dropped.",
        );
      else if (status !== undefined && isLive(status)) {
        const damage = await this.remote.call("damage", run);
        await this.remote.call("setStatus", run, "interrupted", damage ?? ended(run, folder));
      }
      this.live.delete(run);
      this.unsettled.delete(run);
    } catch (error) {
      // Tried again until it succeeds; said once.
      const message = unwritable(run, this.folder(run), messageOf(error));
      if (this.unsettled.get(run) !== message) this.log(`settling ${run}: ${messageOf(error)}`);
      this.unsettled.set(run, message);
    } finally {
      this.busy.delete(run);
    }
  }

  /** As the store has it, but for a run that has ended and whose end the store could not take in. */
  seen<Run extends RunSummary>(run: Run): Run {
    const message = this.unsettled.get(run.id);
    return message === undefined || isSettled(run.status) ? run : { ...run, status: "interrupted", message };
  }

  // ───────────────────────────────────────────── small things

  private folder(run: string): string {
    return runFolder(this.store, run);
  }

  private async existing(run: string): Promise<RunSummary> {
    const summary = await this.remote.call("summary", run);
    if (summary === null)
      throw new UserError(`There is no run ${run} in this store.`, {
        code: "unknownRun",
        action: "List the runs: gradus runs list.",
      });
    return summary;
  }

  private refuseLive(run: string, what: string): void {
    const holder = holderOf(this.folder(run));
    if (holder.state === "elsewhere") throw busyElsewhere(run, holder);
    if (holder.state === "here") {
      throw new UserError(`Run ${run} is live and cannot be ${what}.`, {
        code: "busy",
        action: `Stop it first: gradus runs stop ${run}.`,
      });
    }
  }

  private async alone<Result>(run: string, act: () => Promise<Result>): Promise<Result> {
    // The daemon itself is recording its end: a moment, and no request of a client.
    await this.settling.get(run);
    if (this.busy.has(run))
      throw new UserError(`Another request is working on run ${run}.`, {
        code: "busy",
        action: "Try again in a moment.",
      });
    this.busy.add(run);
    try {
      return await act();
    } finally {
      this.busy.delete(run);
    }
  }
}

const ended = (run: string, folder: string): string =>
  existsSync(folder) ? interruption(run, folder) : goneFolder(run, folder);
