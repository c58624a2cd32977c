/**
 * A log folder of tinker-cookbook: `metrics.jsonl`, an object a line with `step` and the metrics, `config.json`, and rollouts
 * (tinkerRollouts.ts).
 */
import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { basename, join } from "node:path";
import { isObject, type JsonObject } from "../../../../../shared/lib/json.ts";
import { parseJson, type WireNumber } from "../../../../../shared/rollouts/rollouts.ts";
import { limits, readText } from "../../../../lib/inputFile.ts";
import { LineTail } from "../../../../lib/growing/lineTail.ts";
import { named } from "../../metricNames.ts";
import { newestWrite, sliceBytes, type Feed, type FeedAbout, type FeedSlice } from "../feed.ts";
import { StepParts } from "../stepParts.ts";
import { hasRollouts, TinkerRollouts } from "./tinkerRollouts.ts";

export const tinkerMetrics = "metrics.jsonl";
const configName = "config.json";

/** prime-rl's lines have a time, and verl's their metrics in `data`. */
export function isTinker(folder: string): boolean {
  if (!existsSync(join(folder, configName)) && !hasRollouts(folder)) return false;
  const descriptor = openSync(join(folder, tinkerMetrics), "r");
  try {
    const bytes = Buffer.alloc(256 * 1024);
    const text = bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, bytes.length, 0));
    const row = objectIn(text.split("\n")[0] ?? "");
    return row !== undefined && !("data" in row) && !("time" in row);
  } finally {
    closeSync(descriptor);
  }
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
  private readonly tail: LineTail;
  private readonly rollouts: TinkerRollouts;
  private unread = 0;
  private logged = -1;

  constructor(private readonly folder: string) {
    this.tail = new LineTail(join(folder, tinkerMetrics));
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
        ...(this.unread === 0 ? [] : [`${this.unread} lines are no metrics and were left out`]),
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
    const { lines, bytes, more } = this.tail.next(sliceBytes);
    const parts = new StepParts();
    const rest = last && !more ? this.tail.rest() : "";
    for (const line of rest.trimEnd().endsWith("}") ? [...lines, rest] : lines) this.take(line, parts);
    const metrics = parts.all();
    this.logged = Math.max(this.logged, ...metrics.map(({ step }) => step));
    // Metrics come first: what the trainer has logged of a step is not computed again from its rollouts.
    if (more) return { parts: metrics, bytes, more };
    const found = this.rollouts.next(this.logged, last);
    return { parts: [...metrics, ...found.parts], bytes: bytes + found.bytes, more: found.more };
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
    const { step, ...data } = row;
    // Running totals are of no step.
    if (Number.isInteger(step)) parts.add(Number(step), this.timeOf(Number(step)), withOwn(data));
  }

  /** No line has a time: that of the step's rollouts, else of the file. */
  private timeOf(step: number): number {
    const time = this.rollouts.timeOf(step);
    return (time > 0 ? time : newestWrite([this.tail.file])) / 1000;
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

function objectIn(line: string): JsonObject | undefined {
  try {
    const value = parseJson(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // half a line
  }
}
