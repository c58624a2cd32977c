/**
 * prime-rl's file monitor: `metrics.jsonl`, an object a line with `step`, `time` and the metrics of one producer, of which trainer
 * and orchestrator each write their own for a step; and episodes (primeRollouts.ts).
 */
import { basename, dirname, join } from "node:path";
import type { JsonObject } from "../../../../shared/lib/json.ts";
import type { WireNumber } from "../../../../shared/rollouts/rollouts.ts";
import { named } from "../metricNames.ts";
import type { Feed, FeedAbout, FeedPart, FeedSlice } from "./feed.ts";
import { firstRow, MetricLines } from "./metricLines.ts";
import { PrimeRollouts } from "./primeRollouts.ts";

export const primeMetrics = "metrics.jsonl";

/** verl's file logger has its metrics in `data`. */
export function isPrime(file: string): boolean {
  const row = firstRow(file);
  return row !== undefined && "step" in row && typeof row["time"] === "number" && !("data" in row);
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
  private readonly metrics: MetricLines;
  private readonly rollouts: PrimeRollouts;
  private readonly run: string;

  constructor(folder: string) {
    this.metrics = new MetricLines(join(folder, primeMetrics), partOf);
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
        ...this.metrics.notes(),
        ...(unread === 0 ? [] : [`${unread} lines are no episodes and were left out`]),
      ],
    };
  }

  next(last: boolean): FeedSlice {
    return this.metrics.next(last, (logged) => this.rollouts.next(logged, last));
  }

  written(): number {
    return Math.max(this.metrics.written(), this.rollouts.written());
  }

  close(): void {
    this.metrics.close();
  }
}

/** Some rows are of no step: what an engine says of itself. */
function partOf({ step, time, producer: _, ...data }: JsonObject): FeedPart | undefined {
  if (!Number.isInteger(step)) return undefined;
  return { step: Number(step), time: Number(time ?? 0), values: withOwn(data) };
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
