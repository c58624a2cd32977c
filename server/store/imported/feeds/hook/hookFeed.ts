/**
 * A folder that `gradus_hook.py` writes to: `rollouts-<machine>-<process>-<start>.jsonl` of each process that scores, and from
 * TRL's callback `metrics-….jsonl` and `training.json`, from verl's file logger `metrics-verl-<start>.jsonl`, from a project for
 * SkyRL `metrics-skyrl-<start>.jsonl`, or from OpenRLHF TensorBoard's event files; next to it what a curriculum's service decided
 * (`decisions.ts`). A step is taken in when every process has gone on to a later one.
 */
import { plural } from "../../../../../shared/lib/format.ts";
import { isObject, objectOf } from "../../../../../shared/lib/json.ts";
import {
  newestWrite,
  sliceBytes,
  type Feed,
  type FeedAbout,
  type FeedOptions,
  type FeedSlice,
} from "../feed.ts";
import { HookFolder, type Writer } from "./hookFolder.ts";
import { HookMetrics } from "./hookMetrics.ts";
import { HookSteps } from "./hookSteps.ts";

/** Bytes that are read of one file before another has its turn: the oldest goes on. */
const turnBytes = 256 * 1024;

export class HookFeed implements Feed {
  readonly trainer = "hook";
  private readonly folder: HookFolder;
  private readonly metrics: HookMetrics;
  private readonly steps: HookSteps;
  private begun = false;

  /** @param only the one file that is read of the folder's rollouts */
  constructor(path: string, options: FeedOptions, only?: string) {
    this.folder = new HookFolder(path, only);
    this.metrics = new HookMetrics(this.folder, path);
    this.steps = new HookSteps(this.folder, options);
  }

  about(): FeedAbout {
    const { name, version, started, ended } = this.folder.settings;
    const notes = [
      ...(this.steps.stepless > 0 && this.steps.perStep === undefined
        ? [
            `nothing says which step ${this.steps.stepless} of the rollouts are of, so they count as one: pass rollouts_per_step to log_rollouts, call set_step, or name the run's config with --config`,
          ]
        : []),
      ...(this.folder.earlier > 0
        ? [
            `the folder has ${plural(this.folder.earlier, "earlier training")}, which was left out: name a folder of its own for each (GRADUS_ROLLOUTS)`,
          ]
        : []),
      ...(this.folder.again
        ? ["another training has begun in the folder: import it again for that one"]
        : []),
      ...(this.steps.broken > 0 ? [`${this.steps.broken} lines are no rollouts and were left out`] : []),
    ];
    const config = this.folder.settings["arguments"];
    const planned = objectOf(config)["max_steps"];
    return {
      version: typeof version === "string" ? `with TRL ${version}` : null,
      groups: "recorded",
      copies: true,
      notes,
      ...(typeof name === "string" ? { name } : {}),
      ...(isObject(config) ? { config } : {}),
      ...(typeof planned === "number" && planned > 0 ? { planned } : {}),
      ...(typeof started === "number" ? { started } : {}),
      ...(typeof ended === "number" ? { ended: { time: ended, status: "finished" } } : {}),
    };
  }

  next(last: boolean): FeedSlice {
    this.folder.look();
    const parts = this.metrics.next(last);
    if (!this.begun) parts.push(...this.steps.newest());
    this.begun = true;
    let bytes = 0;
    let writer = this.oldest();
    for (; writer !== undefined && bytes < sliceBytes; writer = this.oldest()) bytes += this.read(writer);
    const more = writer !== undefined;
    if (last && !more) this.readRests();
    parts.push(...this.steps.complete({ logged: this.metrics.logged, read: !more, all: last && !more }));
    for (const one of this.folder.writers.values()) one.atEnd = false;
    return { parts, bytes, more };
  }

  written(): number {
    return newestWrite([...this.folder.files, ...this.metrics.files]);
  }

  close(): void {
    this.steps.clear();
  }

  /** The process that is furthest behind in time, of those that have more. */
  private oldest(): Writer | undefined {
    let found: Writer | undefined;
    for (const one of this.folder.writers.values())
      if (!one.atEnd && (found === undefined || one.time < found.time)) found = one;
    return found;
  }

  private read(writer: Writer): number {
    const { lines, bytes, more } = writer.tail.next(turnBytes);
    writer.atEnd = !more;
    if (bytes > 0) writer.read = Date.now();
    for (const line of lines) this.steps.take(line, writer);
    return bytes;
  }

  private readRests(): void {
    for (const writer of this.folder.writers.values()) {
      const rest = writer.tail.rest();
      // The last line of a process that was killed is half a line.
      if (rest.trimEnd().endsWith("}")) this.steps.take(rest, writer);
    }
  }
}
