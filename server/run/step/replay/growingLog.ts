/**
 * A log of rollouts that others write while the run goes on: each line once, when it is whole, and each group once, when
 * it is. What was read stays read, also after a resume.
 */
import { basename } from "node:path";
import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { Json } from "../../../../shared/lib/json.ts";
import { parseRollout } from "../../../../shared/rollouts/rollouts.ts";
import type { ReplaySource } from "../../../core/slots/replay.ts";
import type { KeptRow } from "../../../methods/replay/keptRow.ts";
import { reasonAgainst } from "../../models/trainable.ts";
import { keptOf, tokenised, type DemonstrationSetup } from "../../stages/demonstrations.ts";
import { SharedFiles, type SharedLine } from "./sharedFiles.ts";
import { textOf } from "./textRow.ts";
import { WaitingGroups, type Waiting } from "./waitingGroups.ts";

const stateSchema = z.object({
  /** Bytes and lines read, by file. */
  files: z.array(z.tuple([z.string(), z.number().int(), z.number().int()])),
  /** Lines whose groups are not complete: file, number and text. */
  waiting: z.array(z.tuple([z.string(), z.number().int(), z.string()])),
});

/** What a step found. */
export interface Grown {
  /** Complete groups, in the order in which they became so. */
  readonly groups: readonly (readonly KeptRow[])[];
  /** Rollouts in them. */
  readonly read: number;
  /** Lines that do not train, whatever the reason. */
  readonly leftOut: number;
  /** What is wrong with the first line that cannot be used. */
  readonly problem?: string | undefined;
}

export class GrowingLog {
  readonly files: SharedFiles;
  private waiting = new WaitingGroups();
  private leftOut = 0;
  private problem: string | undefined;
  /** How its rows are read; known once the run has prepared. */
  reader: DemonstrationSetup | undefined;
  /** What the latest step found. */
  latest: Grown | undefined;

  constructor(private readonly source: Extract<ReplaySource, { kind: "log" }>) {
    this.files = new SharedFiles(source.path);
  }

  /**
   * What has come since the last call.
   * @param size rollouts of a whole group
   * @param step when they are taken up
   * @param run whose own rollouts are passed over
   */
  next(size: number, step: number, run?: string): Grown {
    [this.leftOut, this.problem] = [0, undefined];
    for (const line of this.files.next(run)) this.take(line);
    const groups = this.waiting.complete(size).map((rows) => this.kept(rows, step));
    this.leftOut += this.waiting.trim(this.source.capacity);
    const found = groups.filter((rows) => rows.length > 0);
    const read = found.reduce((sum, { length }) => sum + length, 0);
    this.latest = { groups: found, read, leftOut: this.leftOut, problem: this.problem };
    return this.latest;
  }

  private take(line: SharedLine): void {
    this.orLeaveOut(1, () => {
      const one = parsed(line);
      const { evaluated = [] } = this.reader ?? {};
      if (reasonAgainst(one, evaluated, this.source.heldOut) === undefined) this.waiting.add(one);
      else this.leftOut += 1;
    });
  }

  private kept(rows: readonly Waiting[], step: number): KeptRow[] {
    const { reader } = this;
    if (reader === undefined) throw new Error("internal: a log that grows before the run has prepared");
    return (
      this.orLeaveOut(rows.length, () => {
        const read = rows.map((one) => (this.source.retokenize ? { ...one, row: textOf(one) } : one));
        const own = read.map((one) => tokenised(one, reader.policy, reader.body));
        return keptOf(own, reader, step);
      }) ?? []
    );
  }

  /** What others write is theirs: a line that cannot be used ends no run. */
  private orLeaveOut<Value>(count: number, read: () => Value): Value | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const { file, line } = error.detail;
      this.problem ??= `${file ?? this.source.path}:${(line ?? 0) + 1}: ${error.message}`;
      this.leftOut += count;
      return undefined;
    }
  }

  save(): Json {
    const waiting = this.waiting.lines.map(({ place, text }): Json => [
      basename(place.file),
      place.line,
      text,
    ]);
    return { files: this.files.save().map((file): Json => [...file]), waiting };
  }
  load(json: Json): void {
    const { files, waiting } = stateSchema.parse(json);
    this.files.load(files);
    this.waiting = new WaitingGroups();
    for (const [name, line, text] of waiting)
      this.waiting.add(parsed({ text, place: { file: this.files.fileOf(name), line } }));
  }
}

const parsed = ({ text, place }: SharedLine): Waiting => ({ row: parseRollout(text, place), place, text });
