/**
 * prime-rl's file monitor: `metrics.jsonl`, an object a line with `step`, `time` and the metrics of one producer, of which trainer
 * and orchestrator each write their own for a step; and episodes (primeRollouts.ts).
 */
import { isObject } from "../../../../shared/lib/json.ts";
import { closeSync, openSync, readSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseJson, type WireNumber } from "../../../../shared/rollouts/rollouts.ts";
import { LineTail } from "../../../lib/growing/lineTail.ts";
import { named } from "../metricNames.ts";
import { newestWrite, sliceBytes, type Feed, type FeedAbout, type FeedSlice } from "./feed.ts";
import { PrimeRollouts } from "./primeRollouts.ts";
import { StepParts } from "./stepParts.ts";

export const primeMetrics = "metrics.jsonl";

/** verl's file logger has its metrics in `data`. */
export function isPrime(file: string): boolean {
  const descriptor = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(256 * 1024);
    const [line = ""] = bytes
      .toString("utf8", 0, readSync(descriptor, bytes, 0, bytes.length, 0))
      .split("\n");
    const value: unknown = parseJson(line);
    return isObject(value) && "step" in value && typeof value["time"] === "number" && !("data" in value);
  } catch {
    return false; // another program's
  } finally {
    closeSync(descriptor);
  }
}

/** `train/<env>/effective/<agent>/reward/mean` and the like hold names of environments: of one alone, they are the run's. */
const perEnvironment: readonly (readonly [RegExp, string])[] = [
  [/^train\/[^/]+\/effective\/(?:[^/]+\/)?reward\/mean$/, "reward/total"],
  [/^train\/[^/]+\/effective\/(?:[^/]+\/)?by_group\/frac_all_good$/, "groups/all_right"],
  [/^train\/[^/]+\/effective\/(?:[^/]+\/)?by_group\/frac_all_bad$/, "groups/all_wrong"],
  [/^train\/[^/]+\/effective\/(?:[^/]+\/)?by_group\/frac_mixed$/, "groups/mixed"],
  [/^train\/[^/]+\/effective\/(?:[^/]+\/)?rewards\/([^/]+)\/mean$/, "reward/<term>"],
  [/^train\/[^/]+\/effective\/(?:[^/]+\/)?is_truncated\/mean$/, "rollout/truncated"],
  [/^train\/[^/]+\/effective\/(?:[^/]+\/)?num_output_tokens\/mean$/, "rollout/length"],
];

export class PrimeFeed implements Feed {
  readonly trainer = "prime_rl";
  private readonly tail: LineTail;
  private readonly rollouts: PrimeRollouts;
  private readonly run: string;
  private unread = 0;
  private logged = -1;

  constructor(folder: string) {
    this.tail = new LineTail(join(folder, primeMetrics));
    // `RUN/metrics.jsonl` or `RUN/monitors/file/metrics.jsonl`: releases differ.
    this.run = basename(folder) === "file" ? dirname(dirname(folder)) : folder;
    this.rollouts = new PrimeRollouts(join(this.run, "rollouts"));
  }

  about(): FeedAbout {
    const { unread } = this.rollouts;
    const recorded = this.rollouts.exists();
    return {
      version: null,
      groups: recorded ? "recorded" : "none",
      copies: recorded,
      name: basename(this.run),
      notes: [
        ...(this.unread === 0 ? [] : [`${this.unread} lines are no metrics and were left out`]),
        ...(unread === 0 ? [] : [`${unread} lines are no episodes and were left out`]),
      ],
    };
  }

  next(last: boolean): FeedSlice {
    const { lines, bytes, more } = this.tail.next(sliceBytes);
    const parts = new StepParts();
    const rest = last && !more ? this.tail.rest() : "";
    for (const line of rest.trimEnd().endsWith("}") ? [...lines, rest] : lines) this.take(line, parts);
    const metrics = parts.all();
    this.logged = Math.max(this.logged, ...metrics.map(({ step }) => step));
    // Metrics come first: what the trainer has logged of a step is not computed again from its rollouts.
    if (more) return { parts: metrics, bytes, more };
    const episodes = this.rollouts.next(this.logged, last);
    return { parts: [...metrics, ...episodes.parts], bytes: bytes + episodes.bytes, more: episodes.more };
  }

  written(): number {
    return Math.max(newestWrite([this.tail.file]), this.rollouts.written());
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
    const { step, time, producer: _, ...data } = row;
    // Some rows are of no step: what an engine says of itself.
    if (!Number.isInteger(step)) return;
    parts.add(Number(step), Number(time ?? 0), withOwn(data));
  }
}

function withOwn(data: Readonly<Record<string, unknown>>): Record<string, WireNumber> {
  const values = named("prime_rl", data);
  for (const [pattern, own] of perEnvironment) {
    const found = Object.keys(values).filter((name) => pattern.test(name));
    const [only] = found;
    const several = own !== "reward/<term>" && found.length !== 1;
    if (only === undefined || several) continue;
    for (const name of found) {
      const value = values[name];
      const term = pattern.exec(name)?.[1];
      const to = term === undefined ? own : own.replace("<term>", term);
      if (value === undefined || to in values) continue;
      values[to] = value;
    }
  }
  return values;
}

function objectIn(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = parseJson(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // half a line
  }
}
