import type { WireNumber } from "../../../../shared/rollouts/rollouts.ts";
import type { FeedPart } from "./feed.ts";

/** What was logged value by value, as a part a step, ascending. */
export class StepParts {
  private readonly steps = new Map<number, { time: number; values: Record<string, WireNumber> }>();

  add(step: number, time: number, values: Readonly<Record<string, WireNumber>>): void {
    if (Object.keys(values).length === 0) return;
    const present = this.steps.get(step);
    if (present === undefined) this.steps.set(step, { time, values: { ...values } });
    else {
      Object.assign(present.values, values);
      present.time = Math.max(present.time, time);
    }
  }

  all(): FeedPart[] {
    return [...this.steps]
      .sort(([one], [other]) => one - other)
      .map(([step, { time, values }]) => ({ step, time, values }));
  }
}
