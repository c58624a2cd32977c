/** A round's tasks: of the stage itself, of the one it passes over from, and hard ones that are carried over. */
import type { Clock } from "../../core/basics.ts";
import type { Crossfade } from "../../core/config/stageConfig.ts";
import type { Task } from "../../core/task.ts";
import { randomStream, type Random } from "../../lib/random.ts";
import type { Curriculum } from "./curriculum.ts";
import type { DrawnTask } from "./draws.ts";
import { drawCarried } from "./ledger.ts";

/** Hard tasks of earlier stages, each with what it is drawn by, and the share of prompts that they are. */
export interface CarriedOver {
  readonly share: number;
  readonly candidates: readonly { readonly task: Task; readonly weight: number }[];
}

/** What a stage draws from. */
export interface StageDraw {
  readonly curriculum: Curriculum;
  /** How it passes over from the stage before, and what that one draws with. */
  readonly crossfade: Crossfade | undefined;
  readonly fading: Curriculum | undefined;
  readonly carried: CarriedOver | undefined;
}

/** Of the draws of a step's round. @param step number of the step in the log */
export const drawStream = (seed: number, step: number, round: number): Random =>
  randomStream(seed, "draw", step, round);

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
 * @param random see `drawStream`
 * @param taken arms of the stage that the step has drawn already; filled
 */
export async function drawTasks(
  stage: StageDraw,
  n: number,
  random: Random,
  clock: Clock,
  taken: Set<number>,
): Promise<DrawnTask[]> {
  const carried = carriedTasks(stage, n, random);
  const own = await mixed(stage, n - carried.length, random, clock, taken);
  return [...own, ...carried.map((task) => ({ task, arm: stage.curriculum.familyOf(task) }))];
}

function carriedTasks({ carried }: StageDraw, n: number, random: Random): Task[] {
  if (carried === undefined || carried.candidates.length === 0) return [];
  const count = partOf(n, carried.share, random.fork("carried share"));
  return drawCarried(carried.candidates, count, random.fork("carried")).map(({ task }) => task);
}

/** The stage's own tasks and, while it passes over, the earlier stage's. */
async function mixed(
  { curriculum, fading, crossfade }: StageDraw,
  n: number,
  random: Random,
  clock: Clock,
  taken: Set<number>,
): Promise<DrawnTask[]> {
  if (fading === undefined || crossfade === undefined || clock.stageStep >= crossfade.over)
    return curriculum.draw(n, random, clock, taken);
  const own = partOf(n, ownShare(crossfade, clock.stageStep), random.fork("crossfade"));
  const earlier = await fading.draw(n - own, random.fork("earlier"), clock);
  // Sources of the earlier stage may be used up: the stage's own make up for them.
  return [...(await curriculum.draw(n - earlier.length, random, clock, taken)), ...earlier];
}
