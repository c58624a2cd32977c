/** What the trainer has logged of its steps, and what a curriculum's service decided of them. */
import { statSync } from "node:fs";
import { isObject } from "../../../../../shared/lib/json.ts";
import { named } from "../../metricNames.ts";
import { sliceBytes, type FeedPart } from "../feed.ts";
import { Decisions } from "./decisions.ts";
import type { HookFolder } from "./hookFolder.ts";
import { valueOf } from "./valueOf.ts";

export class HookMetrics {
  /** The last step whose metrics are there: its rollouts are, too. */
  logged = Number.NEGATIVE_INFINITY;
  private readonly decisions: Decisions;
  /** Of steps whose metrics are still to come. */
  private decided: FeedPart[] = [];

  constructor(
    private readonly folder: HookFolder,
    path: string,
  ) {
    this.decisions = new Decisions(path);
  }

  next(last: boolean): FeedPart[] {
    return [...this.loggedParts(), ...this.decidedParts(last)];
  }

  get files(): readonly string[] {
    return this.decisions.files;
  }

  /** What was decided of a step comes with its metrics, where there are some: whoever follows sees a whole step. */
  private decidedParts(last: boolean): FeedPart[] {
    this.decided.push(...this.decisions.next());
    if (last || this.folder.metrics.size === 0) return this.decided.splice(0);
    const ready = this.decided.filter(({ step }) => step <= this.logged);
    this.decided = this.decided.filter(({ step }) => step > this.logged);
    return ready;
  }

  private loggedParts(): FeedPart[] {
    const parts: FeedPart[] = this.folder.events.next();
    for (const { step } of parts) this.logged = Math.max(this.logged, step);
    for (const { tail, before, namer } of this.folder.metrics.values())
      for (const line of tail.next(sliceBytes).lines) {
        const entry = valueOf(line);
        if (!isObject(entry) || !isObject(entry["data"]) || !Number.isInteger(entry["step"])) continue;
        const step = Number(entry["step"]);
        if (step >= before) continue;
        this.logged = Math.max(this.logged, step);
        // verl says no time.
        const time = entry["time"] ?? statSync(tail.file).mtimeMs / 1000;
        parts.push({ step, time: Number(time), values: named(namer, entry["data"]) });
      }
    return parts;
  }
}
