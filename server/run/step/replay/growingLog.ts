/**
 * A log of rollouts that others write while the run goes on: each line once, when it is whole, and each group once, when
 * it is. What was read stays read, also after a resume.
 */
import { existsSync } from "node:fs";
import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { Json } from "../../../../shared/lib/json.ts";
import { parseRollout, type RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { groupKey, type RecordedRow } from "../../../analysis/recorded.ts";
import { LineTail } from "../../../lib/growing/lineTail.ts";
import type { ReplaySource } from "../../../core/slots/replay.ts";
import type { KeptRow } from "../../../methods/replay/keptRow.ts";
import { reasonAgainst } from "../../models/trainable.ts";
import { keptOf, tokenised, type DemonstrationSetup } from "../../stages/demonstrations.ts";

/** Bytes read in one step at most: the rest waits for the next. */
const STEP_BYTES = 64 * 1024 * 1024;

const stateSchema = z.object({
  position: z.number().int(),
  /** Lines read. */
  lines: z.number().int(),
  /** Lines whose groups are not complete: number and text. */
  waiting: z.array(z.tuple([z.number().int(), z.string()])),
});

interface Waiting extends RecordedRow {
  readonly text: string;
}

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
  private tail: LineTail;
  private lines = 0;
  private waiting: Waiting[] = [];
  private leftOut = 0;
  private problem: string | undefined;
  /** How its rows are read; known once the run has prepared. */
  reader: DemonstrationSetup | undefined;
  /** What the latest step found. */
  latest: Grown | undefined;

  constructor(private readonly source: Extract<ReplaySource, { kind: "log" }>) {
    this.tail = new LineTail(source.path);
  }

  get there(): boolean {
    return existsSync(this.source.path);
  }

  /** What has come since the last call. @param size rollouts of a whole group; `step`: when they are taken up */
  next(size: number, step: number): Grown {
    [this.leftOut, this.problem] = [0, undefined];
    const groups = this.there ? this.complete(size).map((rows) => this.kept(rows, step)) : [];
    const found = groups.filter((rows) => rows.length > 0);
    const read = found.reduce((sum, { length }) => sum + length, 0);
    this.latest = { groups: found, read, leftOut: this.leftOut, problem: this.problem };
    return this.latest;
  }

  private complete(size: number): Waiting[][] {
    for (const text of this.tail.next(STEP_BYTES).lines) this.take(text, this.lines++);
    const groups = new Map<string, Waiting[]>();
    const newest = new Map<string, number>();
    for (const one of this.waiting) {
      const { run = "", step } = one.row;
      groups.set(groupKey(one.row), [...(groups.get(groupKey(one.row)) ?? []), one]);
      newest.set(run, Math.max(step, newest.get(run) ?? step));
    }
    const whole = [...groups.values()].filter(
      (rows) => rows.length >= size || rows[0]!.row.step < newest.get(rows[0]!.row.run ?? "")!,
    );
    const done = new Set(whole.flat());
    // Of writers that ended in the middle of a group something would wait for ever.
    const left = this.waiting.filter((one) => !done.has(one));
    this.waiting = left.slice(Math.max(0, left.length - this.source.capacity));
    this.leftOut += left.length - this.waiting.length;
    return whole;
  }

  private take(text: string, line: number): void {
    if (text.trim() === "") return;
    this.orLeaveOut(1, () => {
      const one = this.parsed(text, line);
      const { evaluated = [] } = this.reader ?? {};
      if (reasonAgainst(one, evaluated, this.source.heldOut) === undefined) this.waiting.push(one);
      else this.leftOut += 1;
    });
  }
  private parsed(text: string, line: number): Waiting {
    const place = { file: this.source.path, line };
    return { row: parseRollout(text, place), place, text };
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
    const waiting = this.waiting.map(({ place, text }): Json => [place.line, text]);
    return { position: this.tail.position, lines: this.lines, waiting };
  }
  load(json: Json): void {
    const { position, lines, waiting } = stateSchema.parse(json);
    this.tail = new LineTail(this.source.path, position);
    this.lines = lines;
    this.waiting = waiting.map(([line, text]) => this.parsed(text, line));
  }
}

/** What says nothing by token. @throws UserError where the text alone does not say which of it the policy wrote */
function textOf({ row, place }: RecordedRow): RolloutRow {
  const { run, step, group, index, task, prompt, response, finish, source, use, rewards, errors, reward } =
    row;
  if ((row.turns?.length ?? 0) > 1)
    throw new UserError("a rollout of several turns cannot be read as text", { ...place, character: 0 });
  if (prompt === undefined || response === undefined)
    throw new UserError('the rollout has no "prompt" or no "response"', { ...place, character: 0 });
  return {
    ...{ step, group, index, prompt, response },
    ...(run !== undefined && { run }),
    ...(task && { task }),
    ...(finish && { finish }),
    ...(source && { source }),
    ...(use && { use }),
    ...(rewards && { rewards }),
    ...(errors && { errors }),
    ...(reward !== undefined && { reward }),
  };
}
