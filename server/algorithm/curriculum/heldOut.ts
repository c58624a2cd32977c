/** The held-out tasks that evaluations ask. */
import { openSources } from "./openSources.ts";
import type { DrawnTask } from "./draws.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { create } from "../../core/create.ts";
import type { CreateContext } from "../../core/declaration.ts";

/**
 * Up to `n` distinct held-out tasks, spread evenly over the sources and their values. The sources are opened afresh,
 * so training's cursors stay where they are and every evaluation of a run asks the same.
 * @param only ids of those that may be asked; default: all
 */
export function heldOut(
  body: StageBody,
  context: CreateContext,
  n: number,
  only?: ReadonlySet<string>,
): DrawnTask[] {
  const sources = openSources(body.tasks, context);
  // Only its arms: what a curriculum knows of the tasks that train may not be there for these.
  const division = create(body.curriculum.arms, context)(sources);
  const random = context.random.fork("held-out");
  const found = new Map<string, DrawnTask>();
  let open = sources.flatMap(({ source }) =>
    (source.values.length === 0 ? [undefined] : source.values).map((value) => ({ source, value, misses: 0 })),
  );
  for (let turn = 0; found.size < n && open.length > 0; turn++) {
    for (const at of open) {
      if (found.size >= n) break;
      const task = at.source.draw("evaluate", at.value, random.fork(at.source.name, at.value ?? "", turn));
      const fresh = task !== null && !found.has(task.id) && (only?.has(task.id) ?? true);
      if (fresh) found.set(task.id, { task, arm: division.familyOf(task) });
      at.misses = fresh ? 0 : task === null ? Number.POSITIVE_INFINITY : at.misses + 1;
    }
    // Hundreds of repeats in a row: what this one still has is too rare to wait for.
    open = open.filter((at) => at.misses < 300);
  }
  return [...found.values()];
}
