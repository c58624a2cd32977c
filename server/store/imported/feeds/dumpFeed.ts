/**
 * Rollouts and metrics of verl or TRL while they train. A file of rollouts is placed when it is complete: the newest first, then
 * the first, then the others from the newest on, so that a large folder shows something at once.
 */
import { isObject } from "../../../../shared/lib/json.ts";
import { readdirSync, statSync } from "node:fs";
import type { DumpTrainer, GroupedBy } from "../../../../shared/run/origin.ts";
import { parseJson } from "../../../../shared/rollouts/rollouts.ts";
import { readPlacedStep } from "../../../analysis/imported/placedStep.ts";
import { LineTail } from "../../../lib/growing/lineTail.ts";
import { findOutput, type StepFile, type TrainerOutput } from "../findOutput.ts";
import { named } from "../metricNames.ts";
import { placeFile } from "../placeFiles.ts";
import { termsOf } from "../rewardTerms.ts";
import { LineScanner } from "../scanLines.ts";
import { evaluatedSteps, noMetrics, readMetrics, type TrainerMetrics } from "../trainerMetrics.ts";
import {
  newestWrite,
  sliceBytes,
  type Feed,
  type FeedAbout,
  type FeedOptions,
  type FeedPart,
  type FeedSlice,
} from "./feed.ts";
import { StepParts } from "./stepParts.ts";

/** A file of rollouts that has not changed for so long is complete; before, a later one says so. */
const restAfter = 3_000;
/** Places only: bytes are read and nothing is parsed. */
const placeBytes = 16 * sliceBytes;

export class DumpFeed implements Feed {
  readonly trainer: DumpTrainer;
  private readonly scanner = new LineScanner();
  private readonly placed = new Set<number>();
  private readonly logged = new Set<number>();
  private output: TrainerOutput;
  private groups: GroupedBy | undefined;
  private tail: LineTail | undefined;
  /** Of TRL's `trainer_state.json`, as it was read last. */
  private state: { readonly mtime: number; readonly metrics: TrainerMetrics } | undefined;

  /** @throws UserError where there are no rollouts, or several sets of them */
  constructor(
    private readonly root: string,
    private readonly options: FeedOptions,
  ) {
    this.output = findOutput(root);
    this.trainer = this.output.trainer;
  }

  about(): FeedAbout {
    const planned = this.state?.metrics.planned;
    return {
      ...{ version: null, groups: this.groups ?? "prompt", copies: false, notes: [] },
      ...(planned === undefined ? {} : { planned }),
    };
  }

  next(last: boolean): FeedSlice {
    const parts = this.metrics();
    let bytes = 0;
    const waiting = this.waiting(last);
    while (waiting.length > 0 && bytes < placeBytes) {
      // Newest, first, and then from the newest on.
      const file = this.placed.size === 1 ? waiting.pop()! : waiting.shift()!;
      const part = this.place(file);
      bytes += part.placed?.size ?? 0;
      parts.push(part);
    }
    return { parts, bytes, more: waiting.length > 0 };
  }

  written(): number {
    return newestWrite([
      ...this.output.files.slice(-2).map(({ file }) => file),
      ...(this.output.metrics === undefined ? [] : [this.output.metrics]),
    ]);
  }

  close(): void {
    this.placed.clear();
  }

  /** Complete files that have not been placed, the newest first. */
  private waiting(last: boolean): StepFile[] {
    this.look();
    const newest = this.output.files.at(-1)?.step ?? 0;
    const rests = (file: string): boolean => Date.now() - statSync(file).mtimeMs > restAfter;
    return this.output.files
      .filter(({ step, file }) => !this.placed.has(step) && (last || step < newest || rests(file)))
      .toReversed();
  }

  private look(): void {
    const names = readdirSync(this.output.folder);
    if (names.length !== this.output.files.length || this.output.metrics === undefined)
      this.output = findOutput(this.root);
  }

  private place(file: StepFile): FeedPart {
    this.placed.add(file.step);
    const { trainer, options } = this;
    const metrics = this.state?.metrics ?? noMetrics;
    const record = placeFile(
      {
        trainer,
        terms: termsOf(this.output, metrics, options.config),
        group: trainer === "trl" ? options.config?.top.rollout.group : undefined,
        evaluated: evaluatedSteps(this.output, metrics),
        progress: () => undefined,
      },
      this.scanner,
      { ...file, relative: file.file },
      { halfWritten: [], unscored: [] },
    );
    const time = record.mtime / 1000;
    if (record.count === 0) return { step: file.step, time };
    this.groups ??= readPlacedStep(this.output.folder, record).groups;
    return { step: file.step, time, placed: record };
  }

  private metrics(): FeedPart[] {
    const file = this.output.metrics;
    if (file === undefined) return [];
    if (this.trainer === "trl") return this.ofState(file);
    this.tail ??= new LineTail(file);
    const parts = new StepParts();
    const [time, times] = [statSync(file).mtimeMs / 1000, this.times()];
    for (let more = true; more;) {
      const read = this.tail.next(sliceBytes);
      more = read.more;
      for (const line of read.lines) {
        const entry = valueOf(line);
        if (isObject(entry) && Number.isInteger(entry["step"]) && isObject(entry["data"]))
          parts.add(
            Number(entry["step"]),
            times.get(Number(entry["step"])) ?? time,
            named("verl", entry["data"]),
          );
      }
    }
    return parts.all();
  }

  /** The trainer writes the whole file again with each checkpoint. */
  private ofState(file: string): FeedPart[] {
    const mtime = statSync(file).mtimeMs;
    if (this.state?.mtime === mtime) return [];
    const metrics = readMetrics("trl", file);
    this.state = { mtime, metrics };
    const fresh = metrics.steps.filter(({ step }) => !this.logged.has(step));
    for (const { step } of fresh) this.logged.add(step);
    const times = this.times();
    return fresh.map(({ step, values }) => ({ step, time: times.get(step) ?? mtime / 1000, values }));
  }

  /** When the trainer wrote each step's rollouts, in seconds: no line of its metrics says when. */
  private times(): ReadonlyMap<number, number> {
    const found = this.output.files.map(({ step, file }) => [step, newestWrite([file]) / 1000] as const);
    return new Map(found.filter(([, time]) => time > 0));
  }
}

/** undefined: it is no JSON. */
function valueOf(line: string): unknown {
  try {
    return parseJson(line);
  } catch {
    return undefined; // a line of another program
  }
}
