import { z } from "zod";
import { signal } from "../../config/declaration.ts";
import type { Group, Saved } from "../../seams.ts";
import { nearestOf, unitPoint } from "../points.ts";
import type { ArmSet, Signal } from "../types.ts";
import { mean } from "../../../shared/mean.ts";

/** Fewer past tasks than this are too few to find a near one among. */
const least = 5;

class NearestProgress implements Signal {
  /** Past groups, oldest first: where, and what they earned. */
  private points: number[][] = [];
  private rewards: number[] = [];

  measure({ rewards }: Group, arm: number, arms: ArmSet): readonly number[] {
    const point = unitPoint(arms, arm);
    if (point === undefined) return [];
    if (this.points.length <= least) return [0];
    return [Math.abs(mean(rewards) - this.rewards[nearestOf(this.points, point)]!)];
  }
  remember({ rewards }: Group, arm: number, arms: ArmSet): void {
    const point = arm < 0 ? undefined : unitPoint(arms, arm);
    if (point === undefined || rewards.length === 0) return;
    this.points.push([...point]);
    this.rewards.push(mean(rewards));
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
    "s = |r̄ − r̄ of the nearest past task|, 0 while there are no more than 5; nearest in the box scaled to [0, 1] in every dimension",
  sources: [
    "Teacher algorithms for curriculum learning of Deep RL in continuously parameterized environments",
  ],
  takes: ["points"],
  params: z.object({}),
  create: () => new NearestProgress(),
});
