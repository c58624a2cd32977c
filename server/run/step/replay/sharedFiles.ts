/** The files of a log that runs share: one that all append to, or a folder in which each run has its own. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { UserError } from "../../../../shared/lib/errors.ts";
import { parseRollout, writeRollout, type RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import type { RecordedRow } from "../../../analysis/recorded.ts";
import { appendLines } from "../../../lib/growing/appendLines.ts";
import { LineTail } from "../../../lib/growing/lineTail.ts";

/** Bytes read at once: of what is new in a step the rest waits for the next. */
const PORTION = 64 * 1024 * 1024;
const END = ".jsonl";

/** A file by its name, bytes and lines that were read. */
export type ReadSoFar = readonly [name: string, position: number, lines: number];
interface Tail {
  readonly tail: LineTail;
  lines: number;
}

export interface SharedLine {
  readonly text: string;
  readonly place: RecordedRow["place"];
}

/** What names a rollout within its run. */
const nameOf = ({ step, group, index }: Pick<RolloutRow, "step" | "group" | "index">): string =>
  JSON.stringify([step, String(group), index]);

export class SharedFiles {
  private tails = new Map<string, Tail>();
  /** Where reading began in this attempt: what the run published after its checkpoint lies behind. */
  private begun = new Map<string, number>();
  /** Rollouts that earlier attempts have published and this one may make again. */
  private published: ReadonlySet<string> | undefined;

  constructor(private readonly path: string) {}

  /** Lines that have come since the last call, but for those of the run itself. */
  next(run: string | undefined): SharedLine[] {
    const found: SharedLine[] = [];
    const own = ownLine(run);
    let room = PORTION;
    for (const file of this.files) {
      if (room <= 0) break;
      if (this.isFolder && run !== undefined && file === this.target(run)) continue;
      const known = this.tailOf(file);
      const { lines, bytes } = known.tail.next(room);
      room -= bytes;
      for (const text of lines) {
        const place = { file, line: known.lines++ };
        if (text.trim() !== "" && !own(text)) found.push({ text, place });
      }
    }
    return found;
  }

  /**
   * Appends rollouts of the run; of a step that is made again those that are not there already.
   * @returns how many
   * @throws what writing throws
   */
  publish(run: string, rows: readonly RolloutRow[]): number {
    const file = this.target(run);
    this.published ??= publishedIn(file, this.begun.get(basename(file)) ?? 0, run);
    const known = this.published;
    const fresh = rows.filter((row) => !known.has(nameOf(row)));
    if (fresh.length > 0)
      appendLines(
        file,
        fresh.map((row) => writeRollout({ ...row, run })),
      );
    return fresh.length;
  }

  save(): ReadSoFar[] {
    return [...this.tails].map(([name, { tail, lines }]) => [name, tail.position, lines]);
  }
  load(files: readonly ReadSoFar[]): void {
    this.tails = new Map(
      files.map(([name, position, lines]) => [
        name,
        { tail: new LineTail(this.fileOf(name), position), lines },
      ]),
    );
    this.begun = new Map(files.map(([name, position]) => [name, position]));
    this.published = undefined;
  }

  /** The file of a name that was saved. */
  fileOf(name: string): string {
    return this.isFolder ? join(this.path, name) : this.path;
  }

  private tailOf(file: string): Tail {
    const name = basename(file);
    const known = this.tails.get(name) ?? { tail: new LineTail(file), lines: 0 };
    this.tails.set(name, known);
    return known;
  }
  private get isFolder(): boolean {
    return existsSync(this.path) ? statSync(this.path).isDirectory() : !this.path.endsWith(END);
  }
  private get files(): string[] {
    if (!existsSync(this.path)) return [];
    if (!this.isFolder) return [this.path];
    const names = readdirSync(this.path).filter((name) => name.endsWith(END));
    return names.sort().map((name) => join(this.path, name));
  }
  private target(run: string): string {
    return this.isFolder ? join(this.path, `${run}${END}`) : this.path;
  }
}

/** Whether a line is a rollout of the run. Within a text of its own the quotes would be escaped. */
function ownLine(run: string | undefined): (text: string) => boolean {
  if (run === undefined) return () => false;
  const pattern = new RegExp(`"run"\\s*:\\s*"${run.replaceAll(".", "\\.")}"`);
  return (text) => pattern.test(text);
}

/** Rollouts of a run that a file has from a place on. */
function publishedIn(file: string, from: number, run: string): Set<string> {
  const names = new Set<string>();
  if (!existsSync(file)) return names;
  const own = ownLine(run);
  const tail = new LineTail(file, from);
  for (let more = true; more;) {
    const read = tail.next(PORTION);
    for (const text of read.lines) {
      const row = own(text) ? rowOf({ text, place: { file, line: 0 } }) : undefined;
      if (row !== undefined) names.add(nameOf(row));
    }
    more = read.more;
  }
  return names;
}

/** Of a line that was cut off when the run was killed there is none. */
function rowOf({ text, place }: SharedLine): RolloutRow | undefined {
  try {
    return parseRollout(text, place);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}
