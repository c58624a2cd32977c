/**
 * Rollouts that only tell what a state is worth: they train nothing and are not kept. They are written before anything
 * of the step has trained, so that the step can still be given up, and paid as the step's own rollouts are, by what
 * learns beside the policy as well.
 */
import type { Batch } from "../../core/rollouts.ts";
import { withBranchValues, writeBranches, type Branches } from "./rollouts/branches.ts";
import type { Collected, Place } from "./context.ts";
import { dividedIn } from "./rollouts/divide.ts";
import { withGreedyBaseline, writeGreedy } from "./rollouts/greedy.ts";
import { rewardContext } from "../loop/session.ts";

export interface Estimates {
  readonly greedy: Batch | undefined;
  readonly branches: Branches | undefined;
}

/** Writes what the advantage asks for. */
export const writeEstimates = async (place: Place, collected: Collected): Promise<Estimates> => ({
  greedy: await writeGreedy(place, collected),
  branches: await writeBranches(place, collected),
});

/** The rollouts with what the estimates say of their tasks and of their steps. */
export async function withEstimates(
  place: Place,
  collected: Collected,
  { greedy, branches }: Estimates,
): Promise<Collected> {
  let { batch } = collected;
  if (greedy !== undefined) batch = withGreedyBaseline(batch, greedy, await paid(place, greedy));
  if (branches !== undefined) batch = withBranchValues(batch, branches, await paid(place, branches.written));
  return { ...collected, batch };
}

/** One number a row, by all terms as they are now; NaN where it has none or a term failed. */
async function paid(place: Place, written: Batch): Promise<Float64Array> {
  const { session, stage, clock } = place;
  const { algorithm, scorer } = stage;
  const batch = algorithm.masked(dividedIn(place, written));
  const columns = await scorer.score(batch, rewardContext(session, clock));
  const { total, errored } = algorithm.rewards(columns, batch, clock).combined;
  return total.map((value, row) => (errored[row] === 1 ? Number.NaN : value));
}
