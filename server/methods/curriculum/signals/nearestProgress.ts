import { z } from "zod";
import { signal, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import type { Group } from "../../../core/rollouts.ts";
import { nearestOf, unitPoint } from "../points.ts";
import type { ArmSet } from "../../../core/slots/arms.ts";
import type { GroupOf, Signal } from "../../../core/slots/curriculum.ts";
import { mean } from "../../../../shared/lib/mean.ts";

/** The signal is 0 up to this number of past tasks. */
const least = 5;

class NearestProgress implements Signal {
  /** Points and rewards of past groups, oldest first. */
  private points: number[][] = [];
  private rewards: number[] = [];

  constructor(private readonly scaled: boolean) {}

  private pointOf(arms: ArmSet, arm: number): readonly number[] | undefined {
    if (arm < 0) return undefined;
    return this.scaled ? unitPoint(arms, arm) : arms.point?.(arm);
  }

  measure({ rewards }: Group, arm: number, arms: ArmSet, earlier: readonly GroupOf[]): readonly number[] {
    const point = this.pointOf(arms, arm);
    if (point === undefined) return [];
    const past = earlier.flatMap(({ group, arm: at }) => this.entry(group, at, arms));
    if (this.points.length + past.length <= least) return [0];
    const at = nearestOf([...this.points, ...past.map((one) => one.point)], point);
    return [Math.abs(mean(rewards) - (this.rewards[at] ?? past[at - this.points.length]!.reward))];
  }
  remember(group: Group, arm: number, arms: ArmSet): void {
    for (const { point, reward } of this.entry(group, arm, arms)) {
      this.points.push([...point]);
      this.rewards.push(reward);
    }
  }
  private entry(
    { rewards }: Group,
    arm: number,
    arms: ArmSet,
  ): { point: readonly number[]; reward: number }[] {
    const point = this.pointOf(arms, arm);
    return point === undefined || rewards.length === 0 ? [] : [{ point, reward: mean(rewards) }];
  }

  save(): Saved {
    return {
      json: this.points[0]?.length ?? 0,
      arrays: { points: Float64Array.from(this.points.flat()), rewards: Float64Array.from(this.rewards) },
    };
  }
  load({ json, arrays }: Saved): void {
    const [size, flat] = [Number(json), Array.from(arrays?.["points"] ?? [])];
    this.rewards = Array.from(arrays?.["rewards"] ?? []);
    this.points = this.rewards.map((_, i) => flat.slice(i * size, (i + 1) * size));
  }
}

export const nearestProgress = signal({
  name: "nearest_progress",
  aliases: ["abs_progress_knn"],
  summary: "How much a group's reward differs from that of the nearest task tried before.",
  formula:
    "s = |r̄ − r̄ of the nearest past task|, 0 while there are no more than 5; the groups of a step come one after the other",
  sources: [
    "Teacher algorithms for curriculum learning of Deep RL in continuously parameterized environments",
  ],
  takes: ["points"],
  params: z.object({
    scaled: param(
      z.boolean().default(true),
      "Distances in the box with every dimension scaled to [0, 1], so that units do not matter; else as parameters stand, as the source's code does.",
    ),
  }),
  create: ({ scaled }) => new NearestProgress(scaled),
});
