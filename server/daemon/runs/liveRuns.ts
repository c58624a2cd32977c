/** Which runs are live: it notices when a worker has died, and lets one hand at a time work on a run. */
import { existsSync } from "node:fs";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { liveStatuses, type RunStatus, type RunSummary } from "../../../shared/protocol/protocol.ts";
import { isSettled } from "../../../shared/protocol/runStatus.ts";
import type { ProcessIdentity } from "../../../shared/daemon/process.ts";
import { busyElsewhere, holderOf, isSilent, isWorkerOf } from "../../../shared/run/lease.ts";
import { readRunFile, runFolder } from "../../store/files.ts";
import type { RemoteStore } from "../../store/remote.ts";
import { goneFolder, interruption, unwritable } from "./interruption.ts";
import { StalledRuns } from "./stalledRuns.ts";

/** How often a worker's process is looked for. */
const lookEvery = 500;
/** Looks in a row, two beats long, after which a worker without a sign of life has ended: after a laptop's sleep all beats are old. */
const silentLooks = 20;

const isLive = (status: RunStatus): boolean => liveStatuses.includes(status);

export class LiveRuns {
  private readonly live = new Set<string>();
  /** Of those asked for, whether another program trains. */
  private readonly watched = new Map<string, boolean>();
  /** Runs being settled, resumed or deleted. */
  private readonly busy = new Set<string>();
  private readonly settling = new Map<string, Promise<void>>();
  /** Runs that have ended while the store cannot be written: why. */
  private readonly unsettled = new Map<string, string>();
  /** Who was last seen to work on each: where its folder is removed, no file names that process any more. */
  private readonly workers = new Map<string, ProcessIdentity>();
  /** At how many looks in a row those gave no sign of life. */
  private readonly silent = new Map<string, number>();
  private readonly stalled: StalledRuns;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly store: string,
    private readonly remote: RemoteStore,
    private readonly log: (text: string) => void,
  ) {
    this.stalled = new StalledRuns(remote);
    this.timer = setInterval(() => this.look(), lookEvery);
  }

  /** Those that train: whoever only watches another program's folder needs no daemon to go on. */
  get training(): number {
    return [...this.live].filter((run) => !this.watches(run)).length;
  }

  private watches(run: string): boolean {
    const known = this.watched.get(run) ?? readRunFile(this.folder(run))?.imported !== undefined;
    this.watched.set(run, known);
    return known;
  }

  close(): void {
    clearInterval(this.timer);
  }

  folder(run: string): string {
    return runFolder(this.store, run);
  }

  /** A process of the run was started. */
  launched(run: string): void {
    this.live.add(run);
    this.unsettled.delete(run);
    this.isWorkedOn(run);
  }

  gone(run: string): void {
    this.live.delete(run);
    this.workers.delete(run);
  }

  /** A run that an earlier daemon knew with this status. */
  adopt(run: string, status: RunStatus): void {
    if (this.isWorkedOn(run) || isLive(status)) this.live.add(run);
  }

  /** Something in the run's folder changed. */
  async touched(run: string): Promise<void> {
    if (this.busy.has(run) || !existsSync(this.folder(run))) return;
    if (!this.live.has(run) && this.isWorkedOn(run)) this.live.add(run);
    if (this.live.has(run)) return this.remote.call("ingest", run);
    await this.remote.call("drain", run);
    // A folder that was put here may lack an end, and no process of it will write one: look() says so.
    if ((await this.remote.call("summary", run))?.status === "reading") this.live.add(run);
  }

  private look(): void {
    this.stalled.look([...this.live]).catch((error: unknown) => this.log(messageOf(error)));
    for (const run of this.live) {
      try {
        const worker = this.workers.get(run);
        if (this.isWorkedOn(run)) {
          this.silent.delete(run);
          this.remote.call("ingest", run).catch((error: unknown) => this.log(messageOf(error)));
        } else if (worker === undefined || this.hasEnded(run, worker)) void this.settle(run);
      } catch (error) {
        // In a timer: what is wrong with one run's folder must not end the daemon.
        this.live.delete(run);
        this.log(`run ${run}: ${messageOf(error)}`);
      }
    }
  }

  /** Where its number is in use and no program says by whom, its next beat is waited for. */
  private hasEnded(run: string, worker: ProcessIdentity): boolean {
    const looks = (this.silent.get(run) ?? 0) + 1;
    if (looks < silentLooks && isSilent(this.folder(run), worker)) {
      this.workers.set(run, worker);
      this.silent.set(run, looks);
      return false;
    }
    this.silent.delete(run);
    return true;
  }

  /** The worker is gone: everything it wrote is read first, and only then is it said that it did not finish. */
  async settle(run: string): Promise<void> {
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
      if (this.isWorkedOn(run)) return;
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

  /** A worker lives, here or elsewhere, whether or not the folder is still there. */
  private isWorkedOn(run: string): boolean {
    const folder = this.folder(run);
    const holder = holderOf(folder);
    if (holder.state === "here") this.workers.set(run, holder.identity);
    return holder.state !== "none" || this.leftOver(run) !== undefined;
  }

  /** The worker of a run whose folder was removed, until it has noticed. */
  private leftOver(run: string): ProcessIdentity | undefined {
    const known = this.workers.get(run);
    if (known !== undefined && isWorkerOf(this.folder(run), known)) return known;
    this.workers.delete(run);
    return undefined;
  }

  /** @throws UserError where its worker lives, here or elsewhere */
  refuse(run: string, what: string): void {
    const holder = holderOf(this.folder(run));
    if (holder.state === "elsewhere") throw busyElsewhere(run, holder);
    if (holder.state === "here") {
      throw new UserError(`Run ${run} is live and cannot be ${what}.`, {
        code: "busy",
        action: `Stop it first: gradus runs stop ${run}.`,
      });
    }
    const left = this.leftOver(run);
    if (left !== undefined)
      throw new UserError(`Process ${left.pid} still works on run ${run}, whose folder was removed.`, {
        code: "busy",
        action: "It ends by itself within a step. Try again then.",
      });
  }

  /** @throws UserError where another request is working on the run */
  async alone<Result>(run: string, act: () => Promise<Result>): Promise<Result> {
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
