/** A round's tasks: of the stage itself, of the one it passes over from, and hard ones that are carried over. */
import type { DrawnTask } from "../../../algorithm/curriculum/draws.ts";
import type { Crossfade } from "../../../core/config/stageConfig.ts";
import { randomStream, type Random } from "../../../lib/random.ts";
import type { StepContext } from "../context.ts";
import { drawCarried } from "../../stages/ledger.ts";

/**
 * Share of the stage itself while it passes over: 0 as it begins, 1 after `over` steps. linear: t; cosine:
 * (1 − cos πt) / 2, with t = steps / over.
 */
export function ownShare({ over, shape }: Pick<Crossfade, "over" | "shape">, stageStep: number): number {
  const t = Math.min(1, Math.max(0, stageStep / over));
  return shape === "linear" ? t : 0.5 * (1 - Math.cos(Math.PI * t));
}

/** `n · share` with the fraction left to chance, so that the mean is the share itself. */
export function partOf(n: number, share: number, random: Random): number {
  const wanted = n * share;
  const whole = Math.floor(wanted);
  return Math.min(n, whole + (random.next() < wanted - whole ? 1 : 0));
}

/**
 * Tasks of one round of a step. Fewer than `n` only when every source is used up.
 * @param taken arms of the stage that the step has drawn already; filled
 */
export async function drawTasks(
  context: StepContext,
  n: number,
  round: number,
  taken: Set<number>,
): Promise<DrawnTask[]> {
  const { session, stage, step } = context;
  const random = randomStream(session.config.seed, "draw", step, round);
  const carried = carriedTasks(context, n, random);
  const own = await mixed(context, n - carried.length, random, taken);
  return [...own, ...carried.map((task) => ({ task, arm: stage.curriculum.familyOf(task) }))];
}

function carriedTasks({ stage }: StepContext, n: number, random: Random): DrawnTask["task"][] {
  const { carried } = stage;
  if (carried === undefined || carried.candidates.length === 0) return [];
  const count = partOf(n, carried.share, random.fork("carried share"));
  return drawCarried(carried.candidates, count, random.fork("carried")).map(({ task }) => task);
}

/** The stage's own tasks and, while it passes over, the earlier stage's. */
async function mixed(
  { stage, clock }: StepContext,
  n: number,
  random: Random,
  taken: Set<number>,
): Promise<DrawnTask[]> {
  const { curriculum, fading } = stage;
  const { crossfade } = stage.config;
  if (fading === undefined || crossfade === undefined || clock.stageStep >= crossfade.over)
    return curriculum.draw(n, random, clock, taken);
  const own = partOf(n, ownShare(crossfade, clock.stageStep), random.fork("crossfade"));
  const earlier = await fading.draw(n - own, random.fork("earlier"), clock);
  // Sources of the earlier stage may be used up: the stage's own make up for them.
  return [...(await curriculum.draw(n - earlier.length, random, clock, taken)), ...earlier];
}
