/** Tasks by task weight alone: what supervised learning draws. */
import type { Curriculum } from "../../algorithm/curriculum/curriculum.ts";
import type { DrawnTask } from "../../algorithm/curriculum/draws.ts";
import { byWeight } from "../../methods/curriculum/arms/division.ts";
import type { Random } from "../../lib/random.ts";
import type { SourceOf } from "../../core/slots/curriculum.ts";
import type { Clock } from "../../core/basics.ts";
import { UserError } from "../../../shared/lib/errors.ts";

/** Tasks by task weight alone: what supervised stages learn from. */
export function drawByWeight(curriculum: Curriculum, n: number, random: Random, clock: Clock): DrawnTask[] {
  return Array.from({ length: n }, (_, i) => {
    const stream = random.fork(i);
    let left: readonly SourceOf[] = curriculum.sources;
    while (left.length > 0) {
      const chosen = byWeight(left, stream, clock);
      const task = chosen.source.draw("train", undefined, stream);
      if (task !== null) return { task, arm: curriculum.familyOf(task) };
      left = left.filter((one) => one !== chosen);
    }
    throw new UserError("The stage has no task left to draw.", {
      code: "tasks-empty",
      action: "Raise `epochs`, add data, or shorten the stage.",
    });
  });
}
