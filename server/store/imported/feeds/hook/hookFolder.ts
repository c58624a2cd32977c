/** The files of a hook's folder that are of the training that is meant: who writes them, and up to which step they count. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { isObject, type JsonObject } from "../../../../../shared/lib/json.ts";
import { limits, readText } from "../../../../lib/inputFile.ts";
import { LineTail } from "../../../../lib/growing/lineTail.ts";
import { fileNames } from "../../foreignFiles.ts";
import { eventFileBegan, EventMetrics } from "../tensorboardFeed.ts";
import { isApart, lastTraining, spanOf, type HookSession } from "./hookSessions.ts";
import { valueOf } from "./valueOf.ts";

export const hookFile = /^rollouts-.+-(\d+)-(\d+)\.jsonl$/;
const metricsFile = /^metrics-.+-(\d+)\.jsonl$/;
/** Of trainers whose names are not TRL's. */
const othersFile = /^metrics-(verl|skyrl)-\d+\.jsonl$/;
/** Milliseconds by which the metrics' file may have been begun before the first rollouts were. */
const slack = 10_000;

export interface Writer {
  readonly tail: LineTail;
  readonly number: number;
  /** Steps from here on were trained again. */
  readonly before: number;
  /** Of its last line. */
  step: number;
  time: number;
  atEnd: boolean;
  /** When something was last read of it. */
  read: number;
}

export interface MetricsFile {
  readonly tail: LineTail;
  readonly before: number;
  /** Whose names its metrics have. */
  readonly namer: "trl" | "verl" | "skyrl";
}

const namerOf = (name: string): MetricsFile["namer"] => {
  const other = othersFile.exec(name)?.[1];
  return other === "verl" || other === "skyrl" ? other : "trl";
};

export class HookFolder {
  readonly writers = new Map<string, Writer>();
  readonly metrics = new Map<string, MetricsFile>();
  readonly events: EventMetrics;
  /** What the trainer says of itself: `training.json`. */
  settings: JsonObject = {};
  /** Trainings before the one that is meant. */
  earlier = 0;
  /** Another training has begun meanwhile. */
  again = false;
  /** Sessions of the training that is read; files of others. */
  private sessions: readonly HookSession[] = [];
  private readonly others = new Set<string>();

  /** @param only the one file that is read of the folder's rollouts */
  constructor(
    private readonly folder: string,
    private readonly only?: string,
  ) {
    this.events = new EventMetrics(folder);
    this.begin();
    this.look();
  }

  /** The training has gone on from a checkpoint. */
  get wentOn(): boolean {
    return this.sessions.length > 1;
  }

  get files(): readonly string[] {
    const tails = [...this.writers.values(), ...this.metrics.values()];
    return [...tails.map(({ tail }) => tail.file), ...this.events.files];
  }

  /** Files of processes that have begun meanwhile. */
  look(): void {
    for (const name of fileNames(this.folder)) {
      if (this.writers.has(name) || this.metrics.has(name) || this.others.has(name)) continue;
      const path = join(this.folder, name);
      const began = this.events.has(name) ? undefined : eventFileBegan(name);
      if (began !== undefined) this.events.add(name, this.sessionAt(began, "verl")?.before ?? 0);
      if (metricsFile.test(name)) {
        const namer = namerOf(name);
        const of = this.sessionAt(Number(metricsFile.exec(name)?.[1]), namer);
        if (of === undefined) this.others.add(name);
        else this.metrics.set(name, { tail: new LineTail(path), before: of.before, namer });
      } else if (hookFile.test(name) && (this.only ?? name) === name) this.lookAt(name, path);
    }
    this.settings = settingsOf(join(this.folder, "training.json")) ?? this.settings;
  }

  private lookAt(name: string, path: string): void {
    const session = this.sessions.find(({ names }) => names.has(name));
    const { size, mtimeMs } = statSync(path);
    if (session === undefined && this.sessions.length > 0) {
      // A process that has begun since.
      const span = spanOf(name, path, size);
      if (span === undefined) return;
      const writers = [...this.writers.values()];
      const newest = Math.max(...writers.map(({ time }) => time * 1000));
      const reached = Math.max(...writers.map(({ step }) => step));
      if ((span.step ?? 2) <= 1 && reached > 1 && isApart(span.began, newest)) {
        this.others.add(name);
        this.again = true;
        return;
      }
    }
    this.writers.set(name, {
      tail: new LineTail(path),
      number: this.writers.size,
      before: session?.before ?? Number.POSITIVE_INFINITY,
      step: Number.NEGATIVE_INFINITY,
      time: Number.NEGATIVE_INFINITY,
      atEnd: false,
      read: mtimeMs,
    });
  }

  /** Of the trainings that have written here, the last. */
  private begin(): void {
    const names = fileNames(this.folder).filter(
      (name) => hookFile.test(name) && (this.only ?? name) === name,
    );
    const spans = names.flatMap((name) => {
      const path = join(this.folder, name);
      return spanOf(name, path, statSync(path).size) ?? [];
    });
    const { sessions, earlier } = lastTraining(spans);
    this.sessions = sessions;
    this.earlier = earlier;
    const meant = new Set(sessions.flatMap((session) => [...session.names]));
    for (const { name } of spans) if (!meant.has(name)) this.others.add(name);
  }

  /** Metrics are written when a step has been made: TRL's and SkyRL's in a file that is begun with the first, verl's at its start. */
  private sessionAt(
    milliseconds: number,
    namer: MetricsFile["namer"],
  ): Pick<HookSession, "before"> | undefined {
    if (this.sessions.length === 0) return { before: Number.POSITIVE_INFINITY };
    if (namer === "verl")
      return this.sessions.find(({ began }) => began + slack >= milliseconds) ?? this.sessions.at(-1);
    return this.sessions.findLast(({ began }) => began - slack <= milliseconds);
  }
}

function settingsOf(file: string): JsonObject | undefined {
  if (!existsSync(file)) return undefined;
  const value = valueOf(readText(file, limits.text));
  return isObject(value) ? value : undefined;
}
