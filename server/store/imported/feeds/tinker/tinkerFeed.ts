/**
 * A log folder of tinker-cookbook: `metrics.jsonl`, an object a line with `step` and the metrics, `config.json`, and rollouts
 * (tinkerRollouts.ts).
 */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import type { WireNumber } from "../../../../../shared/rollouts/rollouts.ts";
import { limits, readText } from "../../../../lib/inputFile.ts";
import { named } from "../../metricNames.ts";
import type { Feed, FeedAbout, FeedPart, FeedSlice } from "../feed.ts";
import { firstRow, MetricLines, objectIn } from "../metricLines.ts";
import { hasRollouts, TinkerRollouts } from "./tinkerRollouts.ts";

export const tinkerMetrics = "metrics.jsonl";
const configName = "config.json";

/** prime-rl's lines have a time, and verl's their metrics in `data`. */
export function isTinker(folder: string): boolean {
  if (!existsSync(join(folder, configName)) && !hasRollouts(folder)) return false;
  const row = firstRow(join(folder, tinkerMetrics));
  return row !== undefined && !("data" in row) && !("time" in row);
}

/** Names of tinker-cookbook for what the list of metrics has; `env/all/<number>` is a number that its environment gives. */
const own: Readonly<Record<string, string>> = {
  "env/all/reward/total": "reward/total",
  "env/all/by_group/frac_mixed": "groups/mixed",
  "env/all/by_group/frac_all_good": "groups/all_right",
  "env/all/by_group/frac_all_bad": "groups/all_wrong",
  "env/all/turns_per_episode": "episode/turns",
  "env/all/total_episodes": "rollout/count",
  "optim/lr": "update/lr",
  "optim/entropy": "policy/entropy",
  "time/total": "time/total",
};
/** An evaluator's name comes first. */
const heldOut = /^[^/]+\/env\/all\/reward\/total$/;

export class TinkerFeed implements Feed {
  readonly trainer = "tinker";
  private readonly metrics: MetricLines;
  private readonly rollouts: TinkerRollouts;

  constructor(private readonly folder: string) {
    this.metrics = new MetricLines(join(folder, tinkerMetrics), (row) => this.partOf(row));
    this.rollouts = new TinkerRollouts(folder);
  }

  about(): FeedAbout {
    const recorded = hasRollouts(this.folder);
    const { unread, textless } = this.rollouts;
    const config = this.config();
    return {
      version: null,
      groups: recorded ? "recorded" : "none",
      copies: recorded,
      name: basename(this.folder),
      notes: [
        ...this.metrics.notes(),
        ...(unread === 0 ? [] : [`${unread} lines are no rollouts and were left out`]),
        ...(textless === 0
          ? []
          : [
              `${textless} rollouts have rewards but no texts: the logtree has those of \`num_groups_to_log\` groups an iteration, where their environment logs what was asked and said`,
            ]),
      ],
      ...(config === undefined ? {} : { config }),
    };
  }

  next(last: boolean): FeedSlice {
    this.rollouts.look();
    return this.metrics.next(last, (logged) => this.rollouts.next(logged, last));
  }

  written(): number {
    return Math.max(this.metrics.written(), this.rollouts.written());
  }

  close(): void {
    this.metrics.close();
  }

  /** Running totals are of no step. */
  private partOf({ step, ...data }: JsonObject): FeedPart | undefined {
    if (!Number.isInteger(step)) return undefined;
    return { step: Number(step), time: this.timeOf(Number(step)), values: withOwn(data) };
  }

  /** No line has a time: that of the step's rollouts, else of the file. */
  private timeOf(step: number): number {
    const time = this.rollouts.timeOf(step);
    return (time > 0 ? time : this.metrics.written()) / 1000;
  }

  private config(): JsonObject | undefined {
    const file = join(this.folder, configName);
    if (!existsSync(file)) return undefined;
    return objectIn(readText(file, limits.config));
  }
}

function withOwn(data: JsonObject): Record<string, WireNumber> {
  const found: Record<string, WireNumber> = {};
  for (const [name, value] of Object.entries(named("prime_rl", data))) found[own[name] ?? name] = value;
  const evaluated = Object.keys(found).filter((name) => heldOut.test(name));
  const [only] = evaluated;
  if (only !== undefined && evaluated.length === 1) found["eval/reward/total"] = found[only]!;
  return found;
}
