/**
 * A worker that trains nothing itself: it brings a project to a site, starts it there, and takes in what it writes until the job has
 * ended. When this process goes, the job goes on; the next attempt finds it.
 */
import { trainers, type ExternalEngine } from "../../../shared/run/trainers.ts";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { openControl, unreadableText, type Control } from "../../../shared/run/control.ts";
import { hasLostRun, takeLease, type Lease } from "../../../shared/run/lease.ts";
import type { ControlLine, RunFile, SiteFolder } from "../../../shared/run/run.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { mirrorPath } from "../../store/files.ts";
import { FeedRun } from "../../store/imported/feeds/feedRun.ts";
import { RemoteLooks } from "../../store/imported/feeds/remoteLooks.ts";
import { rewardHashes } from "../../store/imported/rewardHashes.ts";
import { processesOf } from "../check/pairFindings.ts";
import { tookText } from "../cost.ts";
import { hasEnded, type JobState } from "../jobs/runner.ts";
import { Mirror, type Pulled } from "../mirror.ts";
import { siteOf, type Site } from "../siteOf.ts";
import { endOf } from "./ending.ts";
import { ProjectFeed } from "./projectFeed.ts";
import { projectOf, runConfig } from "./runConfig.ts";
import { SiteJob } from "./siteJob.ts";

export interface SiteRunOptions {
  /** The run's folder. */
  readonly folder: string;
  readonly run: RunFile;
  readonly place: SiteFolder & { readonly engine: ExternalEngine };
  readonly attempt: number;
  readonly version: string;
}

/** Milliseconds between two looks for what the run is asked. */
const hearEvery = 250;

/** @returns the process's exit code */
export async function siteRun(options: SiteRunOptions): Promise<number> {
  const lease = takeLease(options.folder, options.attempt, options.version);
  const gone = new AbortController();
  process.on("SIGTERM", () => gone.abort());
  try {
    const { config, authored } = runConfig(options.folder, options.run);
    const site = siteOf(options.place.site, dirname(options.run.file));
    const run = new SiteRun(options, site, config, authored, gone.signal, lease);
    return await run.toItsEnd();
  } finally {
    lease.release();
  }
}

/** A job that waits in a queue has not made its folder. */
function nothingYet(error: unknown): Pick<Pulled, "rewritten" | "leftOut"> {
  if (error instanceof UserError && error.detail.code === "import-missing")
    return { rewritten: [], leftOut: [] };
  throw error;
}

class SiteRun {
  private readonly job: SiteJob;
  private readonly feed: ProjectFeed;
  private readonly looks: RemoteLooks;
  private readonly control: Control;
  private log: FeedRun | undefined;
  private stopping = false;
  private waitsFor: string | undefined;
  private readonly asked: ControlLine[] = [];
  /** It is to end at once. */
  private readonly now = new AbortController();
  private wake = new AbortController();
  /** This process goes, or it is to end at once. */
  private readonly signal: AbortSignal;

  constructor(
    private readonly options: SiteRunOptions,
    private readonly site: Site,
    private readonly config: RunConfig,
    private readonly authored: string,
    private readonly gone: AbortSignal,
    private readonly lease: Lease,
  ) {
    this.signal = AbortSignal.any([gone, this.now.signal]);
    const { folder, run, place, attempt } = options;
    this.job = new SiteJob(site, place, run.id, folder);
    const mirror = new Mirror(site.shell, `${place.folder}/out`, mirrorPath(folder));
    this.feed = new ProjectFeed(mirror.local, config);
    const pull = (signal: AbortSignal) => mirror.pull({ signal }).catch(nothingYet);
    this.looks = new RemoteLooks({ name: site.name, pull }, this.signal);
    this.control = openControl(folder, attempt > 0);
  }

  async toItsEnd(): Promise<number> {
    const log = await this.openLog();
    log.begin();
    this.looks.begin((event) => log.event(event));
    const watch = setInterval(() => this.hear(), hearEvery);
    try {
      await this.looks.ask(() => this.begin());
      return await this.follow(log);
    } catch (error) {
      if (hasLostRun(error)) throw error;
      const action = error instanceof UserError ? ` ${error.detail.action ?? ""}` : "";
      log.end("failed", `${messageOf(error)}.${action}`.replace("..", "."));
      return 1;
    } finally {
      clearInterval(watch);
      log.close();
      this.feed.close();
      this.site.shell.close();
    }
  }

  private async begin(): Promise<true> {
    const { options, site, config, authored } = this;
    const project = await projectOf(options.folder, {
      config,
      text: authored,
      site: site.config,
      version: options.version,
    });
    const begun = await this.job.begin(project, options.attempt);
    const where = `${site.name}, in ${options.place.folder}`;
    const messages = {
      started: `Started on ${where}.`,
      resumed: `Started again from its last checkpoint on ${where}.`,
      attached: `The job on ${where} is followed again.`,
    };
    this.say("info", `site-${begun}`, messages[begun]);
    return true;
  }

  /** @returns the exit code */
  private async follow(log: FeedRun): Promise<number> {
    while (!this.signal.aborted) {
      this.lease.check();
      await this.steer();
      // The state first: what is there when the job has ended comes with the look after it.
      const state = await this.looks.ask(() => this.job.state());
      if (state === undefined) break;
      this.sayWaiting(state);
      await this.looks.look();
      if (this.signal.aborted) break;
      const ended = hasEnded(state) || state.kind === "absent";
      this.takeIn(log, ended);
      if (ended) return this.end(log, state);
      await this.pause();
    }
    // This process goes, and not the job: nothing is written that says that the run has ended.
    return this.gone.aborted ? 0 : this.endNow(log);
  }

  private async pause(): Promise<void> {
    const signal = AbortSignal.any([this.signal, this.wake.signal]);
    await wait(this.looks.every, undefined, { signal }).catch(() => undefined);
  }

  /** All that is here now. */
  private takeIn(log: FeedRun, last: boolean): void {
    for (let more = true; more;) {
      const slice = this.feed.next(last);
      log.take(slice.parts);
      this.looks.took(slice);
      log.counts.bytes += slice.bytes;
      more = slice.more;
    }
  }

  /** The site is asked once: where it does not answer, the run ends here all the same. */
  private async endNow(log: FeedRun): Promise<number> {
    const { name } = this.site;
    const left = await this.job.stop().then(
      () => "",
      (error: unknown) => ` The job there may go on: ${messageOf(error)}.`,
    );
    if (left === "") this.takeIn(log, true);
    for (const { id } of this.asked.splice(0)) log.acknowledge(id, left === "", `Ended on ${name}.${left}`);
    log.end("stopped", `Ended at once on ${name}.${left}`);
    return 0;
  }

  private async end(log: FeedRun, state: JobState): Promise<number> {
    const text = await this.looks.ask(() => this.job.log());
    const { status, message } = endOf(state, {
      site: this.site.name,
      stopping: this.stopping,
      log: text ?? "",
    });
    this.say("info", "site-took", `Took ${this.took(log.seconds(this.feed.about().started))}.`);
    log.end(status, message);
    return status === "failed" ? 1 : 0;
  }

  private took(seconds: number): string {
    const { price, launch } = this.site.config;
    return tookText(seconds, { gpus: processesOf(launch) ?? 0, price }, this.options.place.estimate);
  }

  private hear(): void {
    const { lines, unreadable } = this.control.read();
    for (const line of unreadable) {
      this.say("warning", "control-unreadable", unreadableText(line));
      if (line.id !== null) this.log?.acknowledge(line.id, false, unreadableText(line));
    }
    if (lines.length === 0) return;
    this.asked.push(...lines);
    const stops = lines.filter((line) => line.action === "stop");
    if (stops.some(({ now = false }) => now) || (this.stopping && stops.length > 0)) this.now.abort();
    this.wake.abort();
    this.wake = new AbortController();
  }

  private async steer(): Promise<void> {
    for (const asked of this.asked.splice(0)) await this.answer(asked);
  }

  private async answer({ id, action }: ControlLine): Promise<void> {
    const { name } = this.site;
    if (action !== "stop") {
      const engine = trainers[this.options.place.engine].name;
      this.log?.acknowledge(
        id,
        false,
        `${engine} on ${name} takes no \`${action}\`: stop it, or let it go on.`,
      );
      return;
    }
    this.stopping = true;
    const done = await this.looks.ask(() => this.job.ask().then(() => true));
    if (done === true)
      this.log?.acknowledge(id, true, `Asked on ${name} to save and to stop after its present step.`);
  }

  private sayWaiting(state: JobState): void {
    const why = state.kind === "waiting" ? state.why : undefined;
    if (why !== undefined && why !== this.waitsFor)
      this.say(
        "info",
        "site-waiting",
        `Waiting on ${this.site.name}${why === "" ? "" : `: ${why.replace(/\.$/, "")}`}.`,
      );
    this.waitsFor = why;
  }

  private say(severity: "info" | "warning", name: string, message: string): void {
    this.log?.event({ severity, name, message });
  }

  private async openLog(): Promise<FeedRun> {
    const { options, config, authored, feed } = this;
    const { run, folder, place, attempt, version } = options;
    this.log = new FeedRun(folder, feed, {
      run: run.id,
      name: run.name,
      home: folder,
      folder: join(mirrorPath(folder), "out"),
      site: place,
      file: run.file,
      authored,
      config,
      bundles: await rewardHashes(config),
      version,
      attempt,
      backend: { name: trainers[place.engine].name, reason: `on ${this.site.name}`, device: "" },
    });
    return this.log;
  }
}
