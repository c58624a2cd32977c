/** Tasks by task weight alone: what supervised learning draws. */
import { type Curriculum, type DrawnTask, type SourceOf } from "../algorithm.ts";
import { valueAt } from "../config/declaration.ts";
import type { Clock, Random } from "../seams.ts";
import { UserError } from "../../shared/errors.ts";

/** Tasks by task weight alone: what supervised stages learn from. */
export function drawByWeight(curriculum: Curriculum, n: number, random: Random, clock: Clock): DrawnTask[] {
  return Array.from({ length: n }, (_, i) => {
    const stream = random.fork(i);
    let left: readonly SourceOf[] = curriculum.sources;
    while (left.length > 0) {
      const chosen = byWeight(left, stream, clock);
      const task = chosen.source.draw("train", undefined, stream);
      if (task !== null) return { task, arm: curriculum.armOf(task) };
      left = left.filter((one) => one !== chosen);
    }
    throw new UserError("The stage has no task left to draw.", {
      code: "tasks-empty",
      action: "Raise `epochs`, add data, or shorten the stage.",
    });
  });
}

function byWeight(sources: readonly SourceOf[], random: Random, clock: Clock): SourceOf {
  const weights = sources.map(({ config }) => valueAt(config.weight, clock));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  let left = random.next() * (sum > 0 ? sum : sources.length);
  return sources.find((_, i) => (left -= sum > 0 ? weights[i]! : 1) < 0) ?? sources[sources.length - 1]!;
}
