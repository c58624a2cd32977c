/** What a training printed, as a run: metrics alone, of the lines of verl's console or the dicts of transformers. */
import { basename } from "node:path";
import { formatCount, plural } from "../../../../../shared/lib/format.ts";
import type { DumpTrainer } from "../../../../../shared/run/origin.ts";
import { named } from "../../metricNames.ts";
import { newestWrite, sliceBytes, type Feed, type FeedAbout, type FeedSlice } from "../feed.ts";
import { StepParts } from "../stepParts.ts";
import { Attempts, Bars, type Restart } from "./attempts.ts";
import { logLines } from "./logLines.ts";
import { trlLine, verlLine, verlRecord, type Printed } from "./printed.ts";

function* verlEntries(line: string): Generator<Printed> {
  const found = line.includes("step:") ? verlLine(line) : verlRecord(line);
  if (found !== undefined) yield found;
}
const entriesOf: Readonly<Record<DumpTrainer, (line: string) => Iterable<Printed>>> = {
  verl: verlEntries,
  trl: trlLine,
};

/** Whose log it is; undefined: no line of metrics is in it. @param most bytes to look through */
export function trainerOfLog(file: string, most: number): DumpTrainer | undefined {
  for (const line of logLines(file, most)) {
    for (const _ of verlEntries(line)) return "verl";
    if (line.includes("{")) for (const { kind } of trlLine(line)) if (kind !== "bar") return "trl";
  }
  return undefined;
}

export interface LogOptions {
  /** Steps between two lines, where something next to the log says so. */
  readonly every?: number | undefined;
  /** What else a person should know of how the file was chosen. */
  readonly notes?: readonly string[];
  /** Bytes that are read; default: all. */
  readonly most?: number;
}

/** What a first look at the whole file found. */
interface Survey {
  /** The attempt that reached a step last. */
  readonly winners: ReadonlyMap<number, number>;
  readonly restarts: readonly Restart[];
  readonly counted: number;
  readonly every: number;
  /** Where `every` comes from. */
  readonly by: "given" | "bars" | "lines";
  readonly planned: number | undefined;
}

export class LogFeed implements Feed {
  private survey: Survey | undefined;
  private lines: Generator<string> | undefined;
  private attempts = new Attempts(1);

  constructor(
    private readonly file: string,
    readonly trainer: DumpTrainer,
    private readonly options: LogOptions = {},
  ) {}

  about(): FeedAbout {
    const { survey } = this;
    const planned = survey?.planned;
    return {
      version: null,
      groups: "none",
      copies: false,
      name: basename(this.file),
      notes: [...(this.options.notes ?? []), ...(survey === undefined ? [] : notesOf(survey))],
      started: this.written() / 1000,
      ...(planned === undefined ? {} : { planned }),
    };
  }

  next(): FeedSlice {
    this.survey ??= this.look();
    if (this.lines === undefined) {
      this.lines = logLines(this.file, this.options.most);
      this.attempts = new Attempts(this.survey.every);
    }
    const parts = new StepParts();
    const time = this.written() / 1000;
    let bytes = 0;
    while (bytes < sliceBytes) {
      const { done, value: line } = this.lines.next();
      if (done === true) return { parts: parts.all(), bytes, more: false };
      bytes += line.length + 1;
      for (const printed of entriesOf[this.trainer](line)) {
        if (printed.kind === "bar") continue;
        const { step, attempt } = this.attempts.place(printed);
        if (this.survey.winners.get(step) !== attempt) continue;
        const { epoch: _, step: __, ...data } = printed.data;
        parts.add(step, time, named(this.trainer, data));
      }
    }
    return { parts: parts.all(), bytes, more: true };
  }

  written(): number {
    return newestWrite([this.file]);
  }

  close(): void {
    this.lines?.return(undefined);
    this.lines = undefined;
  }

  /** Twice where steps turn out to be further apart than the lines: winners are kept by step. */
  private look(): Survey {
    const { every } = this.options;
    const bars = new Bars();
    const first = this.places(every ?? 1, bars);
    const found = every === undefined && first.attempts.counted > 0 ? bars.found : undefined;
    const { winners, attempts } = found === undefined || found.every === 1 ? first : this.places(found.every);
    const { restarts, counted } = attempts;
    return {
      winners,
      restarts,
      counted,
      every: every ?? found?.every ?? 1,
      by: every !== undefined ? "given" : found === undefined ? "lines" : "bars",
      planned: bars.found?.planned,
    };
  }

  private places(
    every: number,
    bars?: Bars,
  ): { readonly winners: Map<number, number>; readonly attempts: Attempts } {
    const winners = new Map<number, number>();
    const attempts = new Attempts(every);
    for (const line of logLines(this.file, this.options.most))
      for (const printed of entriesOf[this.trainer](line)) {
        if (printed.kind === "bar") {
          bars?.see(printed);
          continue;
        }
        if (printed.kind === "counted") bars?.line(attempts.lines);
        const { step, attempt } = attempts.place(printed);
        winners.set(step, attempt);
      }
    return { winners, attempts };
  }
}

const mostNamed = 3;

function notesOf({ restarts, counted, every, by }: Survey): readonly string[] {
  const named = restarts.slice(0, mostNamed).map(({ after, at }) => `at step ${at} after step ${after}`);
  const whence = { given: "`logging_steps`", bars: "its progress bars", lines: "" }[by];
  const apart =
    by === "lines"
      ? "each is taken for one step, where `logging_steps` may be more"
      : `they are ${plural(every, "step")} apart by ${whence}`;
  return [
    ...(restarts.length === 0
      ? []
      : [
          `the training was started again ${plural(restarts.length, "time")} (${named.join(", ")}${restarts.length > mostNamed ? ", …" : ""}): of a step that was made twice the last counts`,
        ]),
    ...(counted === 0
      ? []
      : [`the log says no steps: its ${formatCount(counted)} lines with metrics were counted, and ${apart}`]),
  ];
}
