/** Rollouts of steps that are not whole yet, and the steps that are. */
import { statSync } from "node:fs";
import { objectOf } from "../../../../../shared/lib/json.ts";
import { hookLine, hookRows, type HookLine, type HookTerms } from "../../../../analysis/imported/hookRows.ts";
import type { FeedOptions, FeedPart } from "../feed.ts";
import type { HookFolder, Writer } from "./hookFolder.ts";
import { hookTerms } from "./hookTerms.ts";
import { newestLines } from "./newestLines.ts";
import { valueOf } from "./valueOf.ts";

/** A process that has written nothing for so long holds no step back. */
const quietAfter = 60_000;
/** Rollouts of no step that are kept before some are taken in. */
const mostStepless = 4096;
/** Steps whose groups are remembered: a late rollout is a further member. */
const remembered = 8;

export interface Reached {
  /** The last step whose metrics are there. */
  readonly logged: number;
  /** All that there is now has been read. */
  readonly read: boolean;
  /** Nothing will follow. */
  readonly all: boolean;
}

export class HookSteps {
  /** Lines that are no rollouts. */
  broken = 0;
  /** Rollouts that do not say which step they are of. */
  stepless = 0;
  private readonly steps = new Map<number, HookLine[]>();
  private readonly members = new Map<number, Map<string, number>>();
  private readonly terms = new Set<string>();
  /** Steps that were taken in before the folder was read up to them. */
  private readonly taken = new Set<number>();
  private counted = 0;

  constructor(
    private readonly folder: HookFolder,
    private readonly options: FeedOptions,
  ) {}

  /** Rollouts of a step, where the config says how many. */
  get perStep(): number | undefined {
    const rollout = this.options.config?.top.rollout;
    return rollout === undefined ? undefined : rollout.prompts * rollout.group;
  }

  clear(): void {
    this.steps.clear();
  }

  /** The last complete steps of a large folder, before it is read from its start. */
  newest(): FeedPart[] {
    if (this.folder.wentOn) return [];
    const files = [...this.folder.writers.values()].map(({ tail: { file }, number }) => {
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

  take(text: string, writer: Writer): void {
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

  complete({ logged, read, all }: Reached): FeedPart[] {
    const now = Date.now();
    const behind = [...this.folder.writers.values()].filter((writer) => now - writer.read < quietAfter);
    const open = Math.min(...behind.map(({ step }) => step));
    const parts: FeedPart[] = [];
    for (const [step, lines] of [...this.steps].sort(([one], [other]) => one - other)) {
      const crowded = this.perStep === undefined && this.stepless > 0 && lines.length >= mostStepless;
      if (!all && step >= open && !(read && step <= logged) && !crowded) continue;
      this.steps.delete(step);
      if (this.taken.has(step)) continue;
      const rows = hookRows(lines, step, this.ownTerms(), this.membersOf(step));
      parts.push({ step, time: lines.at(-1)?.time ?? 0, rows });
    }
    return parts;
  }

  /** Functions that are there, in the order of their calls. */
  private note({ fields }: HookLine): void {
    for (const part of ["rewards", "errors"])
      for (const term of Object.keys(objectOf(fields[part]))) this.terms.add(term);
  }

  /** Counted by one of the functions: all judge the same rollouts. */
  private stepOf({ fields }: HookLine): number {
    this.stepless++;
    if (this.perStep === undefined) return 1;
    const [first] = this.terms;
    const isFirst = ["rewards", "errors"].some((part) => Object.hasOwn(objectOf(fields[part]), first ?? ""));
    return Math.floor((isFirst ? this.counted++ : Math.max(0, this.counted - 1)) / this.perStep) + 1;
  }

  private ownTerms(): HookTerms {
    return hookTerms([...this.terms], this.folder.settings, this.options.config);
  }

  private membersOf(step: number): Map<string, number> {
    const members = this.members.get(step) ?? new Map<string, number>();
    this.members.set(step, members);
    for (const [oldest] of this.members) if (this.members.size > remembered) this.members.delete(oldest);
    return members;
  }
}
