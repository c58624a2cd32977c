/**
 * A folder that `gradus_hook.py` writes to: `rollouts-<machine>-<process>-<start>.jsonl` of each process that scores, and from
 * TRL's callback `metrics-….jsonl` and `training.json`, from verl's file logger `metrics-verl-<start>.jsonl`, from a project for
 * SkyRL `metrics-skyrl-<start>.jsonl`, or from OpenRLHF TensorBoard's event files; next to it what a curriculum's service decided
 * (`decisions.ts`). A step is taken in when every process has gone on to a later one.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { plural } from "../../../../shared/lib/format.ts";
import { isObject, objectOf, type JsonObject } from "../../../../shared/lib/json.ts";
import { parseJson } from "../../../../shared/rollouts/rollouts.ts";
import { hookLine, hookRows, type HookLine, type HookTerms } from "../../../analysis/imported/hookRows.ts";
import { limits, readText } from "../../../lib/inputFile.ts";
import { LineTail } from "../../../lib/growing/lineTail.ts";
import { named } from "../metricNames.ts";
import { Decisions } from "./decisions.ts";
import { isApart, lastTraining, spanOf, type HookSession } from "./hookSessions.ts";
import { hookTerms } from "./hookTerms.ts";
import { newestLines } from "./newestLines.ts";
import { eventFileBegan, EventMetrics } from "./tensorboardFeed.ts";
import {
  newestWrite,
  sliceBytes,
  type Feed,
  type FeedAbout,
  type FeedOptions,
  type FeedPart,
  type FeedSlice,
} from "./feed.ts";

export const hookFile = /^rollouts-.+-(\d+)-(\d+)\.jsonl$/;
const metricsFile = /^metrics-.+-(\d+)\.jsonl$/;
/** Of trainers whose names are not TRL's. */
const othersFile = /^metrics-(verl|skyrl)-\d+\.jsonl$/;
/** Milliseconds by which the metrics' file may have been begun before the first rollouts were. */
const slack = 10_000;

/** Bytes that are read of one file before another has its turn: the oldest goes on. */
const turnBytes = 256 * 1024;
/** A process that has written nothing for so long holds no step back. */
const quietAfter = 60_000;
/** Rollouts of no step that are kept before some are taken in. */
const mostStepless = 4096;
/** Steps whose groups are remembered: a late rollout is a further member. */
const remembered = 8;

interface Writer {
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

interface MetricsFile {
  readonly tail: LineTail;
  readonly before: number;
  /** Whose names its metrics have. */
  readonly namer: "trl" | "verl" | "skyrl";
}

const namerOf = (name: string): MetricsFile["namer"] => {
  const other = othersFile.exec(name)?.[1];
  return other === "verl" || other === "skyrl" ? other : "trl";
};

export class HookFeed implements Feed {
  readonly trainer = "hook";
  private readonly writers = new Map<string, Writer>();
  private readonly metrics = new Map<string, MetricsFile>();
  /** Sessions of the training that is read; files of others. */
  private sessions: readonly HookSession[] = [];
  private readonly others = new Set<string>();
  private earlier = 0;
  /** Another training has begun meanwhile. */
  private again = false;
  private readonly steps = new Map<number, HookLine[]>();
  private readonly members = new Map<number, Map<string, number>>();
  private readonly terms = new Set<string>();
  /** Steps that were taken in before the folder was read up to them. */
  private readonly taken = new Set<number>();
  private begun = false;
  private settings: JsonObject = {};
  private stepless = 0;
  private counted = 0;
  private broken = 0;
  /** The last step whose metrics are there: its rollouts are, too. */
  private logged = Number.NEGATIVE_INFINITY;

  private readonly decisions: Decisions;
  private readonly events: EventMetrics;
  /** Of steps whose metrics are still to come. */
  private decided: FeedPart[] = [];

  /** @param only the one file that is read of the folder's rollouts */
  constructor(
    private readonly folder: string,
    private readonly options: FeedOptions,
    private readonly only?: string,
  ) {
    this.decisions = new Decisions(folder);
    this.events = new EventMetrics(folder);
    this.begin();
    this.look();
  }

  about(): FeedAbout {
    const { name, version, started, ended } = this.settings;
    const notes = [
      ...(this.stepless > 0 && this.perStep === undefined
        ? [
            `nothing says which step ${this.stepless} of the rollouts are of, so they count as one: pass rollouts_per_step to log_rollouts, call set_step, or name the run's config with --config`,
          ]
        : []),
      ...(this.earlier > 0
        ? [
            `the folder has ${plural(this.earlier, "earlier training")}, which was left out: name a folder of its own for each (GRADUS_ROLLOUTS)`,
          ]
        : []),
      ...(this.again ? ["another training has begun in the folder: import it again for that one"] : []),
      ...(this.broken > 0 ? [`${this.broken} lines are no rollouts and were left out`] : []),
    ];
    const config = this.settings["arguments"];
    const planned = objectOf(config)["max_steps"];
    return {
      version: typeof version === "string" ? `with TRL ${version}` : null,
      groups: "recorded",
      copies: true,
      notes,
      ...(typeof name === "string" ? { name } : {}),
      ...(isObject(config) ? { config } : {}),
      ...(typeof planned === "number" && planned > 0 ? { planned } : {}),
      ...(typeof started === "number" ? { started } : {}),
      ...(typeof ended === "number" ? { ended: { time: ended, status: "finished" } } : {}),
    };
  }

  next(last: boolean): FeedSlice {
    this.look();
    const parts = [...this.loggedParts(), ...this.decidedParts(last)];
    if (!this.begun) parts.push(...this.newest());
    this.begun = true;
    let bytes = 0;
    let writer = this.oldest();
    for (; writer !== undefined && bytes < sliceBytes; writer = this.oldest()) bytes += this.read(writer);
    const more = writer !== undefined;
    if (last && !more) this.readRests();
    parts.push(...this.complete(!more, last && !more));
    for (const one of this.writers.values()) one.atEnd = false;
    return { parts, bytes, more };
  }

  written(): number {
    return newestWrite(
      [...this.writers.values()]
        .map(({ tail }) => tail.file)
        .concat(
          [...this.metrics.values()].map(({ tail }) => tail.file),
          this.decisions.files,
          this.events.files,
        ),
    );
  }

  close(): void {
    this.steps.clear();
  }

  /** The last complete steps of a large folder, before it is read from its start. */
  private newest(): FeedPart[] {
    if (this.sessions.length > 1) return [];
    const files = [...this.writers.values()].map(({ tail: { file }, number }) => {
      const { size, mtimeMs } = statSync(file);
      return { file, number, size, mtime: mtimeMs };
    });
    const steps = new Map<number, HookLine[]>();
    let [first, last] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (const { of, lines, cut } of newestLines(files)) {
      const read = lines.flatMap((text) => hookLine(valueOf(text), of.number) ?? []);
      for (const line of read) steps.set(line.step, [...(steps.get(line.step) ?? []), line]);
      if (cut) first = Math.max(first, read[0]?.step ?? Number.POSITIVE_INFINITY);
      last = Math.min(last, read.at(-1)?.step ?? Number.NEGATIVE_INFINITY);
    }
    const whole = [...steps].filter(
      ([step, lines]) => step > first && step < last && lines.every(({ stepless }) => !stepless),
    );
    for (const [, lines] of whole) for (const line of lines) this.note(line);
    return whole
      .sort(([one], [other]) => other - one)
      .map(([step, lines]) => {
        this.taken.add(step);
        return {
          step,
          time: lines.at(-1)?.time ?? 0,
          rows: hookRows(lines, step, this.ownTerms(), this.membersOf(step)),
        };
      });
  }

  /** Functions that are there, in the order of their calls. */
  private note({ fields }: HookLine): void {
    for (const part of ["rewards", "errors"])
      for (const term of Object.keys(objectOf(fields[part]))) this.terms.add(term);
  }

  /** Files of processes that have begun meanwhile. */
  private look(): void {
    for (const name of readdirSync(this.folder)) {
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
    const names = readdirSync(this.folder).filter(
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

  /** What was decided of a step comes with its metrics, where there are some: whoever follows sees a whole step. */
  private decidedParts(last: boolean): FeedPart[] {
    this.decided.push(...this.decisions.next());
    if (last || this.metrics.size === 0) return this.decided.splice(0);
    const ready = this.decided.filter(({ step }) => step <= this.logged);
    this.decided = this.decided.filter(({ step }) => step > this.logged);
    return ready;
  }

  private loggedParts(): FeedPart[] {
    const parts: FeedPart[] = this.events.next();
    for (const { step } of parts) this.logged = Math.max(this.logged, step);
    for (const { tail, before, namer } of this.metrics.values())
      for (const line of tail.next(sliceBytes).lines) {
        const entry = valueOf(line);
        if (!isObject(entry) || !isObject(entry["data"]) || !Number.isInteger(entry["step"])) continue;
        const step = Number(entry["step"]);
        if (step >= before) continue;
        this.logged = Math.max(this.logged, step);
        // verl says no time.
        const time = entry["time"] ?? statSync(tail.file).mtimeMs / 1000;
        parts.push({ step, time: Number(time), values: named(namer, entry["data"]) });
      }
    return parts;
  }

  /** The process that is furthest behind in time, of those that have more. */
  private oldest(): Writer | undefined {
    let found: Writer | undefined;
    for (const one of this.writers.values())
      if (!one.atEnd && (found === undefined || one.time < found.time)) found = one;
    return found;
  }

  private read(writer: Writer): number {
    const { lines, bytes, more } = writer.tail.next(turnBytes);
    writer.atEnd = !more;
    if (bytes > 0) writer.read = Date.now();
    for (const line of lines) this.take(line, writer);
    return bytes;
  }

  private readRests(): void {
    for (const writer of this.writers.values()) {
      const rest = writer.tail.rest();
      // The last line of a process that was killed is half a line.
      if (rest.trimEnd().endsWith("}")) this.take(rest, writer);
    }
  }

  private take(text: string, writer: Writer): void {
    if (text.trim() === "") return;
    const line = hookLine(valueOf(text), writer.number);
    if (line === undefined) {
      this.broken++;
      return;
    }
    if (!line.stepless && line.step >= writer.before) {
      writer.time = line.time;
      return;
    }
    this.note(line);
    const step = line.stepless ? this.stepOf(line) : line.step;
    const kept = this.steps.get(step);
    if (kept === undefined) this.steps.set(step, [line]);
    else kept.push(line);
    writer.step = Math.max(writer.step, step);
    writer.time = line.time;
  }

  private get perStep(): number | undefined {
    const rollout = this.options.config?.top.rollout;
    return rollout === undefined ? undefined : rollout.prompts * rollout.group;
  }

  /** Counted by one of the functions: all judge the same rollouts. */
  private stepOf({ fields }: HookLine): number {
    this.stepless++;
    if (this.perStep === undefined) return 1;
    const [first] = this.terms;
    const isFirst = ["rewards", "errors"].some((part) => Object.hasOwn(objectOf(fields[part]), first ?? ""));
    return Math.floor((isFirst ? this.counted++ : Math.max(0, this.counted - 1)) / this.perStep) + 1;
  }

  /** @param read all that there is now @param all nothing will follow */
  private complete(read: boolean, all: boolean): FeedPart[] {
    const now = Date.now();
    const behind = [...this.writers.values()].filter(({ read }) => now - read < quietAfter);
    const open = Math.min(...behind.map(({ step }) => step));
    const parts: FeedPart[] = [];
    for (const [step, lines] of [...this.steps].sort(([one], [other]) => one - other)) {
      const crowded = this.perStep === undefined && this.stepless > 0 && lines.length >= mostStepless;
      if (!all && step >= open && !(read && step <= this.logged) && !crowded) continue;
      this.steps.delete(step);
      if (this.taken.has(step)) continue;
      const rows = hookRows(lines, step, this.ownTerms(), this.membersOf(step));
      parts.push({ step, time: lines.at(-1)?.time ?? 0, rows });
    }
    return parts;
  }

  private ownTerms(): HookTerms {
    return hookTerms([...this.terms], this.settings, this.options.config);
  }

  private membersOf(step: number): Map<string, number> {
    const members = this.members.get(step) ?? new Map<string, number>();
    this.members.set(step, members);
    for (const [oldest] of this.members) if (this.members.size > remembered) this.members.delete(oldest);
    return members;
  }
}

/** undefined: it is no JSON. */
function valueOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined; // two processes of one name, or a disk that was full
  }
}

function settingsOf(file: string): JsonObject | undefined {
  if (!existsSync(file)) return undefined;
  const value = valueOf(readText(file, limits.text));
  return isObject(value) ? value : undefined;
}
