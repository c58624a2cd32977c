import { mean } from "../../../../../shared/lib/mean.ts";
import { unitPoint } from "../../points.ts";
import type { ArmSet } from "../../../../core/slots/arms.ts";
import type { Outcome } from "../../../../core/slots/curriculum.ts";

/** Which draw each group came from, where an arm may be drawn more than once a step. */
export class Origins<Origin> {
  private readonly waiting = new Map<number, Origin[]>();
  /** Of the last draw, in order. */
  last: Origin[] = [];

  /** Starts a draw. */
  start(): void {
    this.last = [];
  }
  note(arm: number, origin: Origin): void {
    this.last.push(origin);
    const own = this.waiting.get(arm);
    if (own === undefined) this.waiting.set(arm, [origin]);
    else own.push(origin);
  }
  /** The earliest draw of the arm that has no group yet. */
  take(arm: number): Origin | undefined {
    return this.waiting.get(arm)?.shift();
  }
  /** Ends the step: the draws left over had no group. */
  clear(): void {
    this.waiting.clear();
  }
}

/** The reward of a group at a point of the box, and the draw it came from. */
export interface Earned<Origin> {
  /** In the unit box. */
  readonly point: readonly number[];
  readonly signal: number;
  readonly reward: number;
  readonly origin: Origin | undefined;
}

/** The groups of a step that have a reward and an estimate at a point. */
export function* earned<Origin>(
  outcomes: readonly Outcome[],
  arms: ArmSet,
  origins: Origins<Origin>,
): Generator<Earned<Origin>> {
  for (const { arm, group, estimate: signal } of outcomes) {
    const { rewards } = group;
    const point = arm < 0 ? undefined : unitPoint(arms, arm);
    const origin = origins.take(arm);
    if (rewards.length === 0 || Number.isNaN(signal) || point === undefined) continue;
    yield { point, signal, reward: mean(rewards), origin };
  }
  origins.clear();
}
