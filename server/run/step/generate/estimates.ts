/**
 * Rollouts that only estimate what a state is worth: they train nothing and are not kept. They are generated before
 * anything of the step has trained, so that the step can still be given up, and scored as the step's own rollouts are,
 * by the terms of learners as well.
 */
import { lastValue } from "../../../algorithm/rewards/rewards.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { withBranchValues, generateContinuations, type Continuations } from "./continuations.ts";
import type { Admitted, StepContext } from "../context.ts";
import { dividedIn } from "./divide.ts";
import { withGreedyBaseline, generateGreedy } from "./greedy.ts";
import { rewardContext } from "../../loop/session.ts";

export interface Estimates {
  readonly greedy: Batch | undefined;
  readonly branches: Continuations | undefined;
}

/** Generates what the advantage asks for. */
export const generateEstimates = async (context: StepContext, admitted: Admitted): Promise<Estimates> => ({
  greedy: await generateGreedy(context, admitted),
  branches: await generateContinuations(context, admitted),
});

/** The rollouts with what the estimates say of their tasks and of their steps. */
export async function withEstimates(
  context: StepContext,
  admitted: Admitted,
  { greedy, branches }: Estimates,
): Promise<Admitted> {
  let { batch } = admitted;
  if (greedy !== undefined) batch = withGreedyBaseline(batch, greedy, await rewardsOf(context, greedy));
  if (branches !== undefined)
    batch = withBranchValues(batch, branches, await rewardsOf(context, branches.batch));
  return { ...admitted, batch };
}

/**
 * One number a row, by all terms as they are now; NaN where it has none or a term failed.
 * @param by the term whose value is asked for, in the place of the combined reward
 */
export async function rewardsOf(context: StepContext, generated: Batch, by?: string): Promise<Float64Array> {
  const { session, stage, clock } = context;
  const { algorithm, scorer } = stage;
  const batch = algorithm.masked(dividedIn(context, generated));
  const columns = await scorer.score(batch, rewardContext(session, clock));
  const asked = columns.find(({ name }) => name === by);
  if (asked !== undefined) return Float64Array.from(batch.records, (_, row) => lastValue(asked, row));
  const { total, errored } = algorithm.rewards(columns, batch, clock).combined;
  return total.map((value, row) => (errored[row] === 1 ? Number.NaN : value));
}
