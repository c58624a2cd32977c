/**
 * Follows a run through the daemon as the lines that `gradus run --json` and `gradus runs follow --json` write: each
 * step, event and evaluation once, in order, whatever happens to the connection in between.
 */
import { stepsMade, stepsPlanned } from "../../../shared/run/origin.ts";
import { ask, type Requester } from "../../../shared/daemon/request.ts";
import {
  evaluationsQuery,
  eventsQuery,
  metricsNames,
  metricsSeries,
  runsShow,
  type Change,
  type RunDetail,
  type RunSummary,
} from "../../../shared/protocol/protocol.ts";
import type { Verdict } from "../../../shared/run/verdict.ts";
import type { FeedListener } from "../../../shared/daemon/client.ts";
import type { JsonObject } from "../../../shared/lib/json.ts";
import { isSettled } from "../../../shared/protocol/runStatus.ts";
import { stageKind } from "../../../shared/run/stageKinds.ts";
import type { PlannedStage, RunLine } from "../text/runLines.ts";
import { verdictOf } from "./verdict.ts";

/** Steps asked for at once when catching up. */
const page = 5_000;

interface FollowOptions {
  readonly run: string;
  /** Tell what happened before, too. */
  readonly history: boolean;
  readonly line: (line: RunLine) => void;
}

/** Give it to `DaemonClient.follow`; `done` resolves with the summary when the run has ended. */
export class RunFollower implements FeedListener {
  readonly done: Promise<Extract<RunLine, { type: "summary" }>>;
  private resolve: (summary: Extract<RunLine, { type: "summary" }>) => void = () => undefined;
  private reject: (error: unknown) => void = () => undefined;
  private work: Promise<void> = Promise.resolve();
  private started = false;
  private ended = false;
  private attempt = 0;
  private lastStep = -1;
  private events = 0;
  private evaluations = 0;
  private stages = 0;
  private pending: Extract<RunLine, { type: "stage" | "event" | "evaluation" }>[] = [];

  constructor(
    private readonly daemon: Requester,
    private readonly options: FollowOptions,
  ) {
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  changes(changes: readonly Change[]): void {
    const own = changes.filter(({ run }) => run === this.options.run);
    if (own.length > 0) this.queue(() => this.apply(own));
  }

  restart(): void {
    this.queue(() => this.catchUp());
  }

  /** Asks for the run's state without a notification: a store that cannot be written sends none. */
  look(): void {
    this.queue(async () => (this.started ? this.settle(await this.detail()) : this.catchUp()));
  }

  private queue(act: () => Promise<void>): void {
    this.work = this.work.then(async () => {
      if (!this.ended) await act();
    });
    this.work.catch((error: unknown) => {
      this.ended = true;
      this.reject(error);
    });
  }

  private async apply(changes: readonly Change[]): Promise<void> {
    if (changes.some(({ kind }) => kind === "deleted")) return this.end(null, "The run was deleted.");
    const latest = changes.findLast(({ summary }) => summary !== null)?.summary ?? null;
    // A resumed attempt goes back: its steps are reported again, as they are trained again.
    if (!this.started || (latest !== null && latest.attempt !== this.attempt)) return this.catchUp();
    if (changes.some(({ kind }) => kind === "event" || kind === "evaluation" || kind === "status"))
      await this.others(await this.detail());
    for (const { kind, step, metrics } of changes)
      if (kind === "step" && metrics !== undefined) this.step(step, metrics);
    this.flush();
    if (latest !== null) await this.settle(latest);
  }

  /** Everything since the last line, from the store. */
  private async catchUp(): Promise<void> {
    const detail = await this.detail();
    if (detail.status === "starting" && detail.steps === 0) return;
    const resumed = detail.attempts.at(-1)?.resumedAt;
    if (this.started && detail.attempt !== this.attempt && resumed !== null && resumed !== undefined)
      this.lastStep = Math.min(this.lastStep, resumed - 1);
    this.attempt = detail.attempt;
    if (!this.started) await this.begin(detail);
    await this.others(detail, true);
    await this.steps(detail);
    this.flush();
    await this.settle(detail);
  }

  private async begin(detail: RunDetail): Promise<void> {
    this.started = true;
    const { id, name, file, folder, backend, backendReason } = detail;
    this.options.line({
      type: "started",
      run: id,
      name,
      file,
      folder,
      // 0: another trainer's, which has not said how many.
      steps: stepsPlanned(detail) ?? 0,
      backend,
      backendReason,
      stages: plannedStages(detail.config),
    });
    if (this.options.history) return;
    const parameters = { run: id };
    this.lastStep = detail.step;
    this.stages = detail.stages.length;
    this.events = (await ask(this.daemon, eventsQuery, { ...parameters, limit: 100_000 })).events.length;
    this.evaluations = (await ask(this.daemon, evaluationsQuery, parameters)).evaluations.length;
  }

  /** Steps after the last reported one, all metrics of a step in one line. */
  private async steps(detail: RunDetail): Promise<void> {
    const { names } = await ask(this.daemon, metricsNames, { run: detail.id });
    if (names.length === 0) return;
    while (this.lastStep < detail.step) {
      const to = this.lastStep + page;
      const { series } = await ask(this.daemon, metricsSeries, {
        run: detail.id,
        metrics: [...names],
        from: this.lastStep,
        to,
        maxPoints: page,
      });
      const rows = new Map<number, Record<string, number | null>>();
      for (const { metric, steps, values } of series) {
        if (metric.startsWith("eval/")) continue;
        steps.forEach((step, index) =>
          rows.set(step, { ...rows.get(step), [metric]: values[index] ?? null }),
        );
      }
      for (const [step, metrics] of [...rows].sort(([a], [b]) => a - b)) this.step(step, metrics);
      // The answer may hold steps that came after `detail`: never go back before what was reported.
      this.lastStep = Math.max(this.lastStep, Math.min(to, detail.step));
    }
  }

  private step(step: number, metrics: Readonly<Record<string, number | null>>): void {
    if (step <= this.lastStep) return;
    this.flush(step - 1);
    this.lastStep = step;
    this.options.line({ type: "step", step, metrics });
  }

  /** Tells what happened up to a step, before the steps after it. */
  private flush(upTo = Number.MAX_SAFE_INTEGER): void {
    for (const line of this.pending.filter(({ step }) => step <= upTo)) this.options.line(line);
    this.pending = this.pending.filter(({ step }) => step > upTo);
  }

  /** Stages, events and evaluations that were not reported yet, to be reported at their step. */
  private async others(detail: RunDetail, afresh = false): Promise<void> {
    // A resumed attempt supersedes some of them: what is left was reported already.
    if (afresh) this.stages = Math.min(this.stages, detail.stages.length);
    for (const { step, name, kind } of detail.stages.slice(this.stages))
      this.pending.push({ type: "stage", step, name, kind });
    this.stages = Math.max(this.stages, detail.stages.length);
    const { events } = await ask(this.daemon, eventsQuery, { run: detail.id, limit: 100_000 });
    for (const { step, severity, name, message, action } of events.slice(this.events))
      this.pending.push({ type: "event", step, severity, name, message, action });
    this.events = events.length;
    const { evaluations } = await ask(this.daemon, evaluationsQuery, { run: detail.id });
    if (afresh) this.evaluations = Math.min(this.evaluations, evaluations.length);
    for (const { step, role, metrics } of evaluations.slice(this.evaluations))
      this.pending.push({ type: "evaluation", step, role, metrics });
    this.evaluations = evaluations.length;
  }

  private async settle({ status }: RunSummary): Promise<void> {
    if (!isSettled(status)) return;
    const detail = await this.detail();
    if (!isSettled(detail.status)) return;
    await this.others(detail);
    await this.steps(detail);
    this.flush();
    this.end(detail, detail.message, (await verdictOf(this.daemon, detail.id)) ?? undefined);
  }

  private end(detail: RunDetail | null, message: string | null, verdict?: Verdict): void {
    if (this.ended) return;
    this.ended = true;
    const status = detail?.status === "finished" || detail?.status === "stopped" ? detail.status : "failed";
    const summary: Extract<RunLine, { type: "summary" }> = {
      type: "summary",
      run: this.options.run,
      status,
      steps: detail === null ? 0 : stepsMade(detail),
      message,
      evaluation: { first: detail?.first ?? null, last: detail?.last ?? null },
      seconds: secondsOf(detail),
      folder: detail?.folder ?? "",
      resume: detail === null || status === "finished" ? null : `gradus runs resume ${this.options.run}`,
      ...(detail?.warnings === undefined ? {} : { warnings: detail.warnings }),
      ...(verdict === undefined ? {} : { verdict }),
    };
    this.options.line(summary);
    this.resolve(summary);
  }

  private detail(): Promise<RunDetail> {
    return ask(this.daemon, runsShow, { run: this.options.run });
  }
}

function secondsOf(detail: RunDetail | null): number {
  if (detail === null || detail.endedAt === null) return 0;
  return Math.max(0, (Date.parse(detail.endedAt) - Date.parse(detail.startedAt)) / 1000);
}

/** The stages of the resolved config as they were planned; without `stages` there is one of `steps`. */
function plannedStages(config: JsonObject): PlannedStage[] {
  const stages = config["stages"];
  const list: readonly unknown[] = Array.isArray(stages) ? stages : [];
  const parts = new Set(
    list.flatMap((stage) =>
      isRecord(stage) && Array.isArray(stage["alternate"])
        ? stage["alternate"].map((turn: unknown) => (isRecord(turn) ? turn["stage"] : undefined))
        : [],
    ),
  );
  const planned = list.flatMap((stage) =>
    isRecord(stage) && !parts.has(stage["name"])
      ? [
          {
            name: String(stage["name"] ?? "rl"),
            kind: "alternate" in stage ? ("alternate" as const) : stageKind(String(stage["kind"] ?? "rl")),
            steps: Number(stage["steps"] ?? 0),
          },
        ]
      : [],
  );
  return planned.length > 0 ? planned : [{ name: "rl", kind: "rl", steps: Number(config["steps"] ?? 0) }];
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
