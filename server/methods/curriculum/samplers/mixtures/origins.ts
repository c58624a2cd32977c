import { mean } from "../../../../../shared/mean.ts";
import type { Group } from "../../../../core/rollouts.ts";
import { unitPoint } from "../../points.ts";
import type { Known } from "../../../../core/slots/curriculum.ts";

/** Which draw a group came of, where an arm may be drawn more than once a step. */
export class Origins<Origin> {
  private readonly waiting = new Map<number, Origin[]>();
  /** Of the last draw, in its order. */
  last: Origin[] = [];

  /** A draw begins. */
  begin(): void {
    this.last = [];
  }
  note(arm: number, origin: Origin): void {
    this.last.push(origin);
    const own = this.waiting.get(arm);
    if (own === undefined) this.waiting.set(arm, [origin]);
    else own.push(origin);
  }
  /** The earliest draw of the arm that no group has come of yet. */
  take(arm: number): Origin | undefined {
    return this.waiting.get(arm)?.shift();
  }
  /** The step is over: what is left led to no group. */
  clear(): void {
    this.waiting.clear();
  }
}

/** What a point of the box earned, and which draw it came of. */
interface Earned<Origin> {
  /** In the unit cube. */
  readonly point: readonly number[];
  readonly signal: number;
  readonly reward: number;
  readonly origin: Origin | undefined;
}

/** Of a step's groups those that say something of a point. */
export function* earned<Origin>(
  groups: readonly Group[],
  arms: readonly number[],
  known: Known,
  origins: Origins<Origin>,
): Generator<Earned<Origin>> {
  for (const [i, { rewards }] of groups.entries()) {
    const arm = arms[i]!;
    const signal = known.value[arm];
    const point = arm < 0 ? undefined : unitPoint(known.arms, arm);
    const origin = origins.take(arm);
    if (rewards.length === 0 || signal === undefined || Number.isNaN(signal) || point === undefined) continue;
    yield { point, signal, reward: mean(rewards), origin };
  }
  origins.clear();
}
