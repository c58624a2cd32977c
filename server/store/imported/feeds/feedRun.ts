/** Writes what a feed brings as a run's log. */
import type { GroupRecord, LogRecord } from "../../../../shared/log/records.ts";
import { openAttempt, type LogWriter } from "../../../../shared/log/writer.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { stepClocks } from "../../../../shared/metrics/timeMetrics.ts";
import { placeOf, writerNames, type RunOrigin } from "../../../../shared/run/origin.ts";
import type { SiteFolder } from "../../../../shared/run/run.ts";
import { estimatesOf, estimatorOf, type Estimates } from "../../../analysis/imported/estimates.ts";
import { groupRecords, withAdvantage } from "../../../analysis/imported/groupRecords.ts";
import { paceOf, type Pace } from "../../../analysis/verdict/pace.ts";
import type { RunConfig } from "../../../core/config/runConfig.ts";
import { HeldOutRecords, isHeldOut } from "../heldOut.ts";
import type { Feed, FeedPart } from "./feed.ts";
import type { FollowEvent } from "./remoteLooks.ts";
import { rolloutRecord } from "./rolloutRecord.ts";
import { rowMetrics } from "./rowMetrics.ts";
import { relativePath } from "../../../../shared/lib/slashes.ts";

export interface FeedRunOptions {
  readonly run: string;
  readonly name: string;
  /** The run's folder, where it is going to be. */
  readonly home: string;
  /** Absolute: of what is read, and of the run's config. */
  readonly folder: string;
  /** Where that folder lies, if it is a mirror in the run's own. */
  readonly site: SiteFolder | undefined;
  readonly file: string;
  readonly authored: string;
  readonly config: RunConfig | undefined;
  readonly bundles: Readonly<Record<string, string>>;
  readonly version: string;
  /** Default: 0. A later one takes all in again, from its start. */
  readonly attempt?: number;
  /** What trains; default: the trainer that wrote the folder. */
  readonly backend?: { readonly name: string; readonly reason: string; readonly device: string };
}

/** Steps whose clocks say how long one takes. */
const lately = 100;

export interface FeedCounts {
  rollouts: number;
  /** Those that evaluate. */
  measured: number;
  /** Steps that have rollouts. */
  readonly steps: Set<number>;
  /** Steps with metrics that the program itself has logged. */
  readonly metrics: Set<number>;
  heldOut: boolean;
  bytes: number;
  /** Why the config gives no advantages, where it does not. */
  unestimated: string | null;
}

export class FeedRun {
  readonly counts: FeedCounts = {
    rollouts: 0,
    measured: 0,
    steps: new Set(),
    metrics: new Set(),
    heldOut: false,
    bytes: 0,
    unestimated: null,
  };
  private log: LogWriter | undefined;
  private last = 0;
  private began = Number.POSITIVE_INFINITY;
  private time = 0;
  private staged = false;
  private readonly heldOut = new HeldOutRecords();
  /** When each step was written, in milliseconds, and what the program says that it took. */
  private readonly written = new Map<number, number>();
  private readonly clocks: number[] = [];
  /** Metrics that the program itself logs. */
  private readonly logged = new Set<string>();

  constructor(
    private folder: string,
    private readonly feed: Feed,
    private readonly options: FeedRunOptions,
  ) {}

  /** What computes advantages. */
  get advantages(): string | null {
    const { config } = this.options;
    // TRL's dumps have them.
    if (config === undefined || this.feed.trainer === "trl" || this.counts.unestimated !== null) return null;
    return estimatorOf(config);
  }

  /** How long its steps take, by the program's own clock; null: nothing says. */
  get pace(): Pace | null {
    return paceOf([...this.written.values()], this.clocks.slice(-lately));
  }

  /** The last step so far, as the program counts. */
  get lastStep(): number {
    return this.last;
  }

  /** The run's first record. */
  begin(): void {
    const { options, feed } = this;
    const { version, groups, copies, started, config, planned = 0 } = feed.about();
    const origin: RunOrigin = {
      trainer: feed.trainer,
      version,
      folder: options.folder,
      rollouts: 0,
      steps: 0,
      groups,
      advantages: this.advantages,
      copied: copies || options.site !== undefined,
      ...(options.site === undefined ? {} : { site: options.site }),
    };
    this.write(-1, [
      {
        kind: "start",
        run: options.run,
        attempt: options.attempt ?? 0,
        resumed_at: options.attempt === undefined || options.attempt === 0 ? null : 0,
        name: options.name,
        file: options.file,
        authored: options.authored,
        config: options.config?.tree ?? config ?? {},
        seed: options.config?.seed ?? 0,
        steps: planned + 1,
        backend: options.backend ?? {
          name: writerNames[feed.trainer],
          reason: `imported from ${placeOf(origin)}`,
          device: "",
        },
        git: null,
        version: options.version,
        started_at: new Date((started ?? Date.now() / 1000) * 1000).toISOString(),
        bundles: options.bundles,
        origin,
      },
    ]);
  }

  /** Between steps. */
  event(event: FollowEvent): void {
    const step = this.staged ? this.last : -1;
    this.write(step, [{ kind: "event", step, time: Date.now(), ...event }]);
  }

  /** Answers what the run was asked. */
  acknowledge(id: string, accepted: boolean, message: string): void {
    const step = this.staged ? this.last : -1;
    this.write(step, [{ kind: "acknowledge", step, id, accepted, message }]);
  }

  /** The folder has been renamed: what follows is written there. */
  moveTo(folder: string): void {
    this.log?.close();
    this.log = undefined;
    this.folder = folder;
  }

  take(parts: readonly FeedPart[]): void {
    for (const part of parts) this.part(part);
  }

  private part({ step, time, values = {}, rows = [], placed }: FeedPart): void {
    if (!this.staged) {
      this.staged = true;
      this.write(step, [{ kind: "stage", step, index: 0, name: "rl", stage_kind: "rl" }]);
    }
    const named = Object.keys(values);
    // What a curriculum decided is not the trainer's.
    if (named.some((name) => !name.startsWith("curriculum/"))) this.counts.metrics.add(step);
    for (const name of named) this.logged.add(name);
    this.counts.heldOut ||= named.some(isHeldOut);
    const estimates = this.estimates(rows);
    const groups = groupRecords(rows.filter(trains), estimates);
    const all = { ...(rows.length > 0 ? this.own(rows, groups) : {}), ...values };
    const records: Exclude<LogRecord, { kind: "commit" }>[] = [
      ...(Object.keys(all).length > 0
        ? // As a run's own: in milliseconds, by which it is told whether it still makes steps.
          [{ kind: "metrics", step, time: Math.round(time * 1000), values: all } as const]
        : []),
      ...this.heldOut.of(step, Math.round(time * 1000), values),
      ...groups,
      ...rows.map((row, at) => rolloutRecord(withAdvantage(row, at, estimates), at)),
      ...(placed === undefined
        ? []
        : [{ ...placed, relative: relativePath(this.options.home, placed.file) }]),
    ];
    const rollouts = placed?.count ?? rows.filter(trains).length;
    if (rollouts > 0) this.counts.steps.add(step);
    this.counts.measured += rows.filter(({ use }) => use === "evaluate").length;
    this.counts.rollouts += rollouts;
    this.write(step, records);
    this.written.set(step, Math.max(this.written.get(step) ?? 0, time * 1000));
    const clock = stepClocks.map((name) => values[name]).find((value) => typeof value === "number");
    if (clock !== undefined) this.clocks.push(Number(clock) * 1000);
    this.began = Math.min(this.began, time);
    this.time = Math.max(this.time, time);
    this.last = Math.max(this.last, step);
  }

  /** What the trainer logs itself is not computed again. */
  private own(rows: readonly RolloutRow[], groups: readonly GroupRecord[]): ReturnType<typeof rowMetrics> {
    const found = rowMetrics(rows, groups);
    if (this.counts.metrics.size === 0) return found;
    return Object.fromEntries(
      Object.entries(found).filter(([name]) => name.startsWith("groups/") && !this.logged.has(name)),
    );
  }

  /** Advantages of the rows that train, at the rows' places. */
  private estimates(rows: readonly RolloutRow[]): Estimates | undefined {
    const { config, folder } = this.options;
    if (config === undefined || rows.length === 0) return undefined;
    const training = rows.filter(trains);
    const found = estimatesOf(config, training, folder);
    if (found.kind === "none") {
      this.counts.unestimated ??= found.reason;
      return found;
    }
    let at = 0;
    return {
      kind: "estimated",
      success: found.success,
      advantages: rows.map((row) => (trains(row) ? (found.advantages[at++] ?? null) : null)),
    };
  }

  /** From what was written first to what was written last. @param started when the program began, in seconds since 1970 */
  seconds(started = Number.POSITIVE_INFINITY): number {
    const began = Math.min(this.began, started);
    return Number.isFinite(began) ? Math.max(0, Math.round((this.time - began) * 1000) / 1000) : 0;
  }

  /** @param message why, where it did not finish */
  end(status: "finished" | "stopped" | "failed", message = ""): void {
    const { rollouts, steps } = this.counts;
    this.write(this.last, [
      {
        kind: "end",
        step: this.last,
        status,
        message,
        seconds: this.seconds(),
        ended_at: new Date(this.time > 0 ? this.time * 1000 : Date.now()).toISOString(),
        counted: { rollouts, steps: steps.size },
      },
    ]);
    this.close();
  }

  close(): void {
    this.log?.close();
    this.log = undefined;
  }

  private write(step: number, records: readonly Exclude<LogRecord, { kind: "commit" }>[]): void {
    this.log ??= openAttempt(this.folder, this.options.attempt ?? 0);
    for (const record of records) this.log.append(record);
    this.log.commit(step);
  }
}

const trains = ({ use = "train" }: RolloutRow): boolean => use === "train";
