/** A step's rollouts: draw, generate, reward, admit, and again until there are enough admitted groups or no more are worth drawing. */
import type { Collected, Place, GuidanceTally } from "./context.ts";
import { rowsOfGroups } from "../../core/rows/batch.ts";
import { UserError } from "../../../shared/errors.ts";
import type { Batch, Group } from "../../core/rollouts.ts";
import type { RewardColumn } from "../../core/reward.ts";
import { concatenate } from "./rollouts/assemble.ts";
import { begun } from "./draw/begin.ts";
import { BranchedRound } from "./rollouts/branching.ts";
import { joinColumns } from "./columns.ts";
import { draftsOf, placesOf, type Place as GroupPlace } from "./rollouts/generate.ts";
import { GuidedRound } from "./rollouts/guide.ts";
import { makeTasks, tasksOfStep } from "./draw/newTasks.ts";
import { paid, type Paid } from "./rollouts/paid.ts";
import { drawTasks } from "./draw/drawTasks.ts";
import { probe, screen } from "./draw/tries.ts";
import { groupsOf } from "../../algorithm/rewards/groups.ts";

/** What a step has drawn so far: names of groups, and arms. */
interface Taken {
  readonly groups: Set<string>;
  readonly arms: Set<number>;
}

/** Tasks that were drawn, and the rollouts of those that were worth writing. */
interface Round {
  readonly drawn: number;
  readonly written?: Paid & { readonly tally?: GuidanceTally };
}

/** One round: `n` groups drawn, written, rewarded, and helped where guidance says so. */
async function round(place: Place, n: number, taken: Taken, number: number): Promise<Round | null> {
  const drawn = await place.watch.time("choose", () => drawTasks(place, n, number, taken.arms));
  if (drawn.length === 0) return null;
  const screened = await screen(place, drawn, number);
  if (screened.length === 0) return { drawn: drawn.length };
  const places = placesOf(await begun(place, screened, number), taken.groups);
  return { drawn: drawn.length, written: await written(place, places, number) };
}

function written(
  place: Place,
  places: readonly GroupPlace[],
  number: number,
): Promise<Paid & { readonly tally?: GuidanceTally }> {
  const { session, stage, step } = place;
  if (stage.guide !== undefined) return new GuidedRound(place, stage.guide, places, number).write();
  if (stage.branching !== undefined) return new BranchedRound(place, stage.branching, places, number).write();
  const { rollout } = stage.config.body;
  return paid(place, draftsOf(places, rollout.group, session.policy, ["rollout", step], "train", rollout));
}

export async function collect(place: Place): Promise<Collected> {
  const { stage, clock } = place;
  const wanted = stage.config.body.rollout.prompts;
  const taken: Taken = { groups: new Set(), arms: new Set() };
  const batches: Batch[] = [];
  const columns: RewardColumn[][] = [];
  const tallies: GuidanceTally[] = [];
  const groups: Group[] = [];
  const state = { admitted: 0, drawn: 0, round: 0 };
  const keep = (more: Paid): Group[] => {
    batches.push(more.batch);
    columns.push(more.columns);
    return groupsOf(more.batch, stage.algorithm.rewards(more.columns, more.batch, clock));
  };
  await makeTasks(place);
  await probe(place);
  for (
    let ask = stage.curriculum.asks(wanted, clock);
    ask > 0;
    ask = stage.curriculum.more({ wanted, ...state })
  ) {
    const more = await round(place, ask, taken, state.round);
    if (more === null) break;
    state.drawn += more.drawn;
    state.round += 1;
    if (more.written === undefined) continue;
    if (more.written.tally !== undefined) tallies.push(more.written.tally);
    const found = keep(more.written);
    groups.push(...found);
    state.admitted += found.filter((group) => stage.curriculum.admit(group).admitted).length;
  }
  const made = await tasksOfStep(place, groups);
  if (made.length > 0) {
    const drawn = made.map((task) => ({ task, arm: stage.curriculum.familyOf(task) }));
    const more = await written(place, placesOf(drawn, taken.groups), state.round);
    if (more.tally !== undefined) tallies.push(more.tally);
    keep(more);
  }
  const all = union(place, batches, columns, wanted + made.length, state.drawn);
  return tallies.length === 0 ? all : { ...all, guidance: tallies };
}

function union(
  { stage, clock }: Place,
  batches: readonly Batch[],
  columns: readonly RewardColumn[][],
  wanted: number,
  drawn: number,
): Collected {
  const [first, ...rest] = batches;
  if (first === undefined)
    throw drawn > 0 ? nothingPassed(drawn) : clock.step === 0 ? noneTrains() : usedUp();
  const batch = concatenate([first, ...rest]);
  const scored = stage.algorithm.rewards(joinColumns(columns), batch, clock);
  const groups = groupsOf(batch, scored);
  const verdicts = stage.curriculum.verdicts(groups, wanted);
  const admitted = rowsOfGroups(batch).flatMap((rows, group) => (verdicts[group]!.admitted ? rows : []));
  const mixed = stage.algorithm.guidedRatio?.withMixture(batch, scored.success, admitted) ?? batch;
  return { batch: mixed, scored, groups, verdicts, admitted, dropped: new Set(), rounds: batches.length };
}

const noneTrains = (): UserError =>
  new UserError("The task sources of this stage have no task to train on.", {
    code: "tasks-none",
    action:
      "Add data: about a fifth of the tasks, chosen by a hash of prompt and answer, is held out for evaluation, and of a few tasks that may be all.",
  });
const usedUp = (): UserError =>
  new UserError("Every task source of this stage is used up.", {
    code: "tasks-empty",
    action: "Raise `epochs`, add data, or shorten the stage.",
  });
const nothingPassed = (drawn: number): UserError =>
  new UserError(
    `None of the ${drawn} tasks drawn in this step passed what admission tries them with first.`,
    {
      code: "tasks-screened",
      action:
        "The policy may have learned all of them: end the stage, add harder tasks, or choose another admission. Resuming goes on from the last checkpoint.",
    },
  );
