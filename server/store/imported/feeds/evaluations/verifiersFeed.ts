/**
 * An evaluation's folder of verifiers (0.4): `traces.jsonl`, an episode a line as it ends, and the config as it resolved in
 * `configs/resolved`. A line may also be a trace alone.
 */
import { closeSync, existsSync, readSync } from "node:fs";
import { basename, join } from "node:path";
import { plural } from "../../../../../shared/lib/format.ts";
import { isObject, objectOf, type JsonObject } from "../../../../../shared/lib/json.ts";
import { parseJson, type RolloutRow } from "../../../../../shared/rollouts/rollouts.ts";
import { episodeRows } from "../../../../analysis/imported/episodeRows.ts";
import { limits, openRegular, readText } from "../../../../lib/inputFile.ts";
import { fileNames } from "../../foreignFiles.ts";
import { LineTail } from "../../../../lib/growing/lineTail.ts";
import {
  newestWrite,
  sliceBytes,
  type Feed,
  type FeedAbout,
  type FeedPart,
  type FeedSlice,
} from "../feed.ts";
import { stalenessOf } from "../staleness.ts";
import { EvaluationTotals } from "./evaluationTotals.ts";

export const verifiersTraces = "traces.jsonl";
const resolved = join("configs", "resolved");

/** By how its first line begins, which may be long; nothing may be there yet. */
export function isVerifiers(file: string): boolean {
  const descriptor = openRegular(file);
  try {
    const bytes = Buffer.alloc(64 * 1024);
    const text = bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, bytes.length, 0));
    return text === ""
      ? existsSync(join(file, "..", resolved))
      : /^\{"id":\s?"[^"]*",\s?"env":|^\{"version":\s?\d+,\s?"id":\s?"[^"]*",\s?"verifiers":/.test(text);
  } finally {
    closeSync(descriptor);
  }
}

/** An evaluation is one step. */
const only = 1;

export class VerifiersFeed implements Feed {
  readonly trainer = "verifiers";
  private readonly tail: LineTail;
  private readonly members = new Map<string, number>();
  private readonly totals = new EvaluationTotals();
  private version: string | null = null;
  private started: number | undefined;
  private unread = 0;
  private untraced = 0;

  constructor(private readonly folder: string) {
    this.tail = new LineTail(join(folder, verifiersTraces));
  }

  about(): FeedAbout {
    const config = this.config();
    return {
      version: this.version,
      groups: "recorded",
      copies: true,
      name: basename(this.folder),
      notes: [
        ...(this.unread === 0 ? [] : [`${plural(this.unread, "line")} left out, since it is no episode`]),
        ...(this.untraced === 0
          ? []
          : [`${plural(this.untraced, "episode")} without a trace, since it failed before an answer`]),
      ],
      ...(config === undefined ? {} : { config }),
      ...(this.started === undefined ? {} : { started: this.started }),
    };
  }

  next(last: boolean): FeedSlice {
    const { lines, bytes, more } = this.tail.next(sliceBytes);
    const rest = last && !more ? this.tail.rest() : "";
    const steps = new Map<number, RolloutRow[]>();
    for (const line of rest.trimEnd().endsWith("}") ? [...lines, rest] : lines)
      for (const row of this.rows(line)) steps.set(row.step, [...(steps.get(row.step) ?? []), row]);
    const parts = [...steps]
      .sort(([one], [other]) => one - other)
      .map(([step, rows]) => this.part(step, rows));
    return { parts, bytes, more };
  }

  written(): number {
    return newestWrite([this.tail.file]);
  }

  close(): void {
    this.members.clear();
  }

  private part(step: number, rows: readonly RolloutRow[]): FeedPart {
    this.totals.add(rows);
    // The weights of step N are number N − 1.
    const values = { ...this.totals.metrics(), ...stalenessOf(rows, step - 1) };
    return { step, time: this.written() / 1000, rows, values };
  }

  private rows(line: string): readonly RolloutRow[] {
    if (line.trim() === "") return [];
    const episode = episodeIn(line);
    if (episode === undefined) {
      this.unread++;
      return [];
    }
    const [trace] = Array.isArray(episode["traces"]) ? episode["traces"] : [];
    if (!isObject(trace)) {
      this.untraced++;
      return [];
    }
    const { version } = objectOf(trace["verifiers"]);
    if (typeof version === "string") this.version = version;
    const { start } = objectOf(trace["timing"]);
    if (typeof start === "number") this.started = Math.min(this.started ?? start, start);
    const work = objectOf(objectOf(episode["run"])["work"]);
    const step = Number.isInteger(work["step"]) ? Number(work["step"]) : only;
    return episodeRows([episode], step, work["type"] === "train" ? "train" : "evaluate", this.members);
  }

  private config(): JsonObject | undefined {
    const folder = join(this.folder, resolved);
    const [name] = existsSync(folder)
      ? fileNames(folder)
          .filter((one) => one.endsWith(".json"))
          .sort()
      : [];
    if (name === undefined) return undefined;
    try {
      const value = parseJson(readText(join(folder, name), limits.config));
      return isObject(value) ? value : undefined;
    } catch {
      return undefined; // it is being written
    }
  }
}

/** A trace alone becomes an episode with it; undefined: it is neither. */
function episodeIn(line: string): JsonObject | undefined {
  try {
    const value = parseJson(line);
    if (!isObject(value)) return undefined;
    if (Array.isArray(value["traces"])) return value;
    return Array.isArray(value["nodes"]) && isObject(value["agent"] ?? null)
      ? { id: value["id"] ?? "", task: value["task"] ?? {}, traces: [value] }
      : undefined;
  } catch {
    return undefined; // half a line
  }
}
