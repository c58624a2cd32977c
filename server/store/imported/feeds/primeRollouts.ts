/**
 * prime-rl's episodes: `rollouts/step_N/{train,eval}/effective/traces.jsonl`, what the step trained on and what it was measured
 * by, each file written at once when its step is sent to the trainer. What `all/` has in addition, for example episodes that no
 * batch took, is left out.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isObject, type JsonObject } from "../../../../shared/lib/json.ts";
import { parseJson, type RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { episodeRows } from "../../../analysis/imported/episodeRows.ts";
import { isOwnFile } from "../foreignFiles.ts";
import { LineTail } from "../../../lib/growing/lineTail.ts";
import { newestWrite, sliceBytes, type FeedPart } from "./feed.ts";
import { stalenessOf } from "./staleness.ts";

const stepFolder = /^step_(\d+)$/;
const uses = [
  ["train", "train"],
  ["eval", "evaluate"],
] as const;

export class PrimeRollouts {
  private readonly taken = new Set<number>();
  private newest = 0;
  /** Lines that are no episodes. */
  unread = 0;

  constructor(private readonly folder: string) {}

  exists(): boolean {
    return existsSync(this.folder);
  }

  /**
   * Whole steps, some megabytes at most and one at least: those after which another has begun.
   * @param logged the last step with metrics, which are written after its episodes
   * @param all nothing will follow
   */
  next(logged: number, all: boolean): { parts: FeedPart[]; bytes: number; more: boolean } {
    const steps = this.steps();
    const last = steps.at(-1) ?? -1;
    const open = steps.filter((step) => !this.taken.has(step) && (all || step < last || step <= logged));
    const parts: FeedPart[] = [];
    let bytes = 0;
    for (const [at, step] of open.entries()) {
      const read = this.read(step);
      this.taken.add(step);
      if (read.part !== undefined) parts.push(read.part);
      bytes += read.bytes;
      if (bytes >= sliceBytes && at + 1 < open.length) return { parts, bytes, more: true };
    }
    return { parts, bytes, more: false };
  }

  /** Milliseconds since 1970; 0: there is nothing. */
  written(): number {
    const last = this.steps().at(-1);
    if (last === undefined) return this.newest;
    this.newest = Math.max(this.newest, newestWrite(this.filesOf(last).map(({ file }) => file)));
    return this.newest;
  }

  /** Ascending. */
  private steps(): number[] {
    if (!this.exists()) return [];
    return readdirSync(this.folder)
      .flatMap((name) => stepFolder.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((one, other) => one - other);
  }

  private filesOf(step: number) {
    return uses
      .map(([kind, use]) => ({
        use,
        file: join(this.folder, `step_${step}`, kind, "effective", "traces.jsonl"),
      }))
      .filter(({ file }) => isOwnFile(file, this.folder));
  }

  private read(step: number): { readonly part: FeedPart | undefined; readonly bytes: number } {
    const rows: RolloutRow[] = [];
    let [bytes, time] = [0, 0];
    for (const { use, file } of this.filesOf(step)) {
      const found = this.episodes(file);
      bytes += found.bytes;
      time = Math.max(time, newestWrite([file]) / 1000);
      rows.push(...episodeRows(found.episodes, step, use));
    }
    if (rows.length === 0) return { part: undefined, bytes };
    // The weights of step N are number N − 1.
    return { part: { step, time, rows, values: stalenessOf(rows, step - 1) }, bytes };
  }

  private episodes(file: string): { readonly episodes: readonly JsonObject[]; readonly bytes: number } {
    const tail = new LineTail(file);
    const episodes: JsonObject[] = [];
    let bytes = 0;
    for (let more = true; more;) {
      const slice = tail.next(sliceBytes);
      for (const line of slice.lines) this.take(line, episodes);
      bytes += slice.bytes;
      more = slice.more;
    }
    return { episodes, bytes };
  }

  private take(line: string, episodes: JsonObject[]): void {
    if (line.trim() === "") return;
    try {
      const value = parseJson(line);
      if (!isObject(value)) throw new SyntaxError("no object");
      episodes.push(value);
    } catch {
      // Cut by a full disk, or by a process that was ended.
      this.unread++;
    }
  }
}
