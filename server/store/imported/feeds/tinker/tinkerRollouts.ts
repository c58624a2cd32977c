/**
 * Rollouts of tinker-cookbook: `iteration_N/NAME_rollout_summaries.jsonl` with `NAME_logtree.json`, and of releases before 0.3
 * `NAME_iteration_N_…` in the folder itself. NAME is `train`, or `eval_…`.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isObject, objectOf, type Json, type JsonObject } from "../../../../../shared/lib/json.ts";
import { parseJson, type RolloutRow } from "../../../../../shared/rollouts/rollouts.ts";
import { tinkerRows } from "../../../../analysis/imported/tinkerRows.ts";
import { limits, readText } from "../../../../lib/inputFile.ts";
import { fileNames, unfitness } from "../../foreignFiles.ts";
import { newestWrite, sliceBytes, type FeedPart } from "../feed.ts";
import { stalenessOf } from "../staleness.ts";

const iterationFolder = /^iteration_(\d+)$/;
const nested = /^(.+)_rollout_summaries\.jsonl$/;
const flat = /^(.+)_iteration_(\d+)_rollout_summaries\.jsonl$/;

interface Summary {
  readonly step: number;
  readonly use: "train" | "evaluate";
  readonly file: string;
  readonly tree: string;
}

export const hasRollouts = (folder: string): boolean =>
  readdirSync(folder).some((name) => iterationFolder.test(name) || flat.test(name));

export class TinkerRollouts {
  private readonly taken = new Set<number>();
  /** As of the last look, by step. */
  private readonly found = new Map<number, readonly Summary[]>();
  /** Lines that are no rollouts. */
  unread = 0;
  /** Rollouts whose texts are not logged. */
  textless = 0;

  constructor(private readonly folder: string) {}

  /**
   * Whole steps, some megabytes at most and one at least: those whose metrics are logged, which come last.
   * @param all nothing will follow
   */
  next(logged: number, all: boolean): { parts: FeedPart[]; bytes: number; more: boolean } {
    const steps = [...this.found.keys()]
      .filter((step) => !this.taken.has(step) && (all || step <= logged))
      .sort((one, other) => one - other);
    const parts: FeedPart[] = [];
    let bytes = 0;
    for (const [at, step] of steps.entries()) {
      const rows = this.filesOf(step).flatMap((one) => {
        const read = this.read(one);
        bytes += read.bytes;
        return read.rows;
      });
      this.taken.add(step);
      if (rows.length > 0)
        parts.push({ step, time: this.timeOf(step) / 1000, rows, values: stalenessOf(rows, step) });
      if (bytes >= sliceBytes && at + 1 < steps.length) return { parts, bytes, more: true };
    }
    return { parts, bytes, more: false };
  }

  /** Finds what has been written since. */
  look(): void {
    this.found.clear();
    for (const one of this.summaries()) this.found.set(one.step, [...this.filesOf(one.step), one]);
  }

  /** When the rollouts of a step were written, in milliseconds since 1970; 0: there are none. */
  timeOf(step: number): number {
    return newestWrite(this.filesOf(step).map(({ file }) => file));
  }

  written(): number {
    return this.timeOf(Math.max(...this.found.keys()));
  }

  private filesOf(step: number): readonly Summary[] {
    return this.found.get(step) ?? [];
  }

  private summaries(): Summary[] {
    const found: Summary[] = [];
    for (const entry of readdirSync(this.folder, { withFileTypes: true })) {
      const step = iterationFolder.exec(entry.name)?.[1];
      if (entry.isDirectory() && step !== undefined) {
        const folder = join(this.folder, entry.name);
        for (const name of fileNames(folder, this.folder)) {
          const base = nested.exec(name)?.[1];
          if (base !== undefined) found.push(summaryOf(folder, name, base, Number(step)));
        }
      }
      const [, base, at] = unfitness(entry, this.folder) === undefined ? (flat.exec(entry.name) ?? []) : [];
      if (base !== undefined) found.push(summaryOf(this.folder, entry.name, base, Number(at)));
    }
    return found.sort((one, other) => one.step - other.step || (one.file < other.file ? -1 : 1));
  }

  private read({ step, use, file, tree }: Summary): {
    readonly rows: readonly RolloutRow[];
    readonly bytes: number;
  } {
    const text = readText(file, limits.text);
    const lines = text.split("\n").flatMap((line) => this.objectIn(line));
    const rows = tinkerRows(lines, treeIn(tree), step, use);
    this.textless += rows.filter(({ response }) => response === undefined).length;
    return { rows, bytes: text.length };
  }

  private objectIn(line: string): JsonObject[] {
    if (line.trim() === "") return [];
    try {
      const value = parseJson(line);
      if (isObject(value)) return [value];
    } catch {
      // cut by a full disk: counted below
    }
    this.unread++;
    return [];
  }
}

const summaryOf = (folder: string, name: string, base: string, step: number): Summary => ({
  step,
  use: base === "train" ? "train" : "evaluate",
  file: join(folder, name),
  tree: join(folder, name.replace("rollout_summaries.jsonl", "logtree.json")),
});

/** undefined: there is none, or it cannot be read. */
function treeIn(file: string): Json | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return objectOf(parseJson(readText(file, limits.text)))["root"];
  } catch {
    return undefined;
  }
}
