/** `metrics.jsonl`: an object a line, with metrics of a step. Next to it are rollouts, which several trainers write. */
import { closeSync, readSync } from "node:fs";
import { isObject, type JsonObject } from "../../../../shared/lib/json.ts";
import { parseJson } from "../../../../shared/rollouts/rollouts.ts";
import { openRegular } from "../../../lib/inputFile.ts";
import { LineTail } from "../../../lib/growing/lineTail.ts";
import { newestWrite, sliceBytes, type FeedPart, type FeedSlice } from "./feed.ts";
import { StepParts } from "./stepParts.ts";

/** The beginning of a file that a first line must fit into. */
const firstBytes = 256 * 1024;

/** undefined: its first line is no object. */
export function firstRow(file: string): JsonObject | undefined {
  const descriptor = openRegular(file);
  try {
    const bytes = Buffer.alloc(firstBytes);
    const text = bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, bytes.length, 0));
    return objectIn(text.split("\n")[0] ?? "");
  } finally {
    closeSync(descriptor);
  }
}

export function objectIn(line: string): JsonObject | undefined {
  try {
    const value: unknown = parseJson(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // half a line
  }
}

export class MetricLines {
  private readonly tail: LineTail;
  private unread = 0;
  private logged = -1;

  /** @param partOf undefined: the row is of no step */
  constructor(
    file: string,
    private readonly partOf: (row: JsonObject) => FeedPart | undefined,
  ) {
    this.tail = new LineTail(file);
  }

  /**
   * Metrics come first: what the trainer has logged of a step is not computed again from its rollouts.
   * @param rollouts those that are new, given the last step with metrics
   */
  next(last: boolean, rollouts: (logged: number) => FeedSlice): FeedSlice {
    const { lines, bytes, more } = this.tail.next(sliceBytes);
    const parts = new StepParts();
    const rest = last && !more ? this.tail.rest() : "";
    for (const line of rest.trimEnd().endsWith("}") ? [...lines, rest] : lines) this.take(line, parts);
    const metrics = parts.all();
    this.logged = Math.max(this.logged, ...metrics.map(({ step }) => step));
    if (more) return { parts: metrics, bytes, more };
    const found = rollouts(this.logged);
    return { parts: [...metrics, ...found.parts], bytes: bytes + found.bytes, more: found.more };
  }

  /** Milliseconds since 1970. */
  written(): number {
    return newestWrite([this.tail.file]);
  }

  notes(): readonly string[] {
    return this.unread === 0 ? [] : [`${this.unread} lines are no metrics and were left out`];
  }

  close(): void {
    this.unread = 0;
  }

  private take(line: string, parts: StepParts): void {
    if (line.trim() === "") return;
    const row = objectIn(line);
    if (row === undefined) {
      this.unread++;
      return;
    }
    const part = this.partOf(row);
    if (part !== undefined) parts.add(part.step, part.time, part.values ?? {});
  }
}
