/** A step's rollouts, round by round: draw, generate, score, help, admit. */
import type { Admitted, Drawn, Scored, StepContext } from "../context.ts";
import { rowsOfGroups } from "../../../core/rows/batch.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { Group } from "../../../core/rollouts.ts";
import { concatenate } from "../generate/assemble.ts";
import { startedGroups } from "../draw/startStates.ts";
import { BranchedRound } from "../generate/branching.ts";
import { SearchedRound } from "../generate/searching.ts";
import { GrowingRound } from "../generate/growing.ts";
import { joinColumns } from "../score/rewardColumns.ts";
import { draftsOf, type DrawnGroup } from "../generate/generate.ts";
import { namedGroups } from "../../../algorithm/curriculum/namedGroups.ts";
import { GuidedRound } from "../help/guidedRound.ts";
import { makeTasks, tasksOfStep } from "../draw/newTasks.ts";
import { generateAndScore } from "../score/score.ts";
import type { DrawnTask } from "../../../algorithm/curriculum/draws.ts";
import { drawStream, drawTasks } from "../../../algorithm/curriculum/stageDraw.ts";
import { pilotArms, screen } from "../draw/pilots.ts";
import { groupsOf } from "../../../algorithm/rewards/groups.ts";

/** What a step has drawn so far: names of groups, and arms. */
interface Taken {
  readonly groups: Set<string>;
  readonly arms: Set<number>;
}

/** Draws tasks, keeps those that pass admission's own pilot rollouts, and finds where their rollouts start. */
async function draw(context: StepContext, n: number, taken: Taken, round: number): Promise<Drawn> {
  const drawn = await context.watch.time("choose", () => tasksOf(context, n, round, taken.arms));
  const screened = drawn.length === 0 ? [] : await screen(context, drawn, round);
  const started = screened.length === 0 ? [] : await startedGroups(context, screened, round);
  return { tasks: drawn.length, groups: namedGroups(started, taken.groups) };
}

function tasksOf(
  { session, stage, step, clock }: StepContext,
  n: number,
  round: number,
  arms: Set<number>,
): Promise<DrawnTask[]> {
  const { crossfade } = stage.config;
  return drawTasks({ ...stage, crossfade }, n, drawStream(session.config.seed, step, round), clock, arms);
}

/** A round's rollouts, scored, and helped where guidance says so. */
function rollOut(context: StepContext, groups: readonly DrawnGroup[], round: number): Promise<Scored> {
  const { session, stage, step } = context;
  if (stage.guide !== undefined) return new GuidedRound(context, stage.guide, groups, round).rollOut();
  if (stage.branching?.search !== undefined)
    return new SearchedRound(context, stage.branching.search, groups, round).rollOut();
  if (stage.branching !== undefined)
    return new BranchedRound(context, stage.branching, groups, round).rollOut();
  const { growth } = stage.curriculum;
  if (growth !== undefined) return new GrowingRound(context, groups, growth).rollOut();
  const { rollout } = stage.config.body;
  return generateAndScore(
    context,
    draftsOf(groups, rollout.group, session.policy, ["rollout", step], "train", rollout),
  );
}

/** Rounds of draw, generate, score and admit, until enough groups are admitted or no more are worth drawing. */
export async function admit(context: StepContext): Promise<Admitted> {
  const { stage, clock } = context;
  const wanted = stage.config.body.rollout.prompts;
  const taken: Taken = { groups: new Set(), arms: new Set() };
  const rounds: Scored[] = [];
  const groups: Group[] = [];
  const state = { admitted: 0, drawn: 0, round: 0 };
  await makeTasks(context);
  await pilotArms(context);
  for (
    let ask = stage.curriculum.asks(wanted, clock);
    ask > 0;
    ask = stage.curriculum.more({ wanted, ...state })
  ) {
    const round = state.round;
    const drawn = await draw(context, ask, taken, round);
    if (drawn.tasks === 0) break;
    state.drawn += drawn.tasks;
    state.round += 1;
    if (drawn.groups.length === 0) continue;
    const scored = await rollOut(context, drawn.groups, round);
    rounds.push(scored);
    const found = groupsOfRound(context, scored);
    groups.push(...found);
    state.admitted += found.filter((group) => stage.curriculum.admit(group).admitted).length;
  }
  const made = await tasksOfStep(context, groups);
  if (made.length > 0) {
    const drawn = made.map((task) => ({ task, arm: stage.curriculum.familyOf(task) }));
    rounds.push(await rollOut(context, namedGroups(drawn, taken.groups), state.round));
  }
  return union(context, rounds, wanted + made.length, state.drawn);
}

const groupsOfRound = ({ stage, clock }: StepContext, { batch, columns }: Scored): Group[] =>
  groupsOf(batch, stage.algorithm.rewards(columns, batch, clock));

function union(
  { stage, clock }: StepContext,
  rounds: readonly Scored[],
  wanted: number,
  drawn: number,
): Admitted {
  const [first, ...rest] = rounds.map((round) => round.batch);
  if (first === undefined)
    throw drawn > 0 ? nothingPassed(drawn) : clock.step === 0 ? noneTrains() : usedUp();
  const batch = concatenate([first, ...rest]);
  const scored = stage.algorithm.rewards(joinColumns(rounds.map(({ columns }) => columns)), batch, clock);
  const groups = groupsOf(batch, scored);
  const verdicts = stage.curriculum.verdicts(groups, wanted);
  const admitted = rowsOfGroups(batch).flatMap((rows, group) => (verdicts[group]!.admitted ? rows : []));
  const mixed = stage.algorithm.guidedRatio?.withMixture(batch, scored.success, admitted) ?? batch;
  const guidance = rounds.flatMap((round) => round.guidance ?? []);
  return { batch: mixed, scored, groups, verdicts, admitted, guidance };
}

const noneTrains = (): UserError =>
  new UserError("The task sources of this stage have no task to train on.", {
    code: "tasks-none",
    action:
      "Add data: about a fifth of the tasks, chosen by a hash of prompt and answer, is held out for evaluation. Of a few tasks, that may be all.",
  });
const usedUp = (): UserError =>
  new UserError("Every task source of this stage is used up.", {
    code: "tasks-empty",
    action: "Raise `epochs`, add data, or shorten the stage.",
  });
const nothingPassed = (drawn: number): UserError =>
  new UserError(`None of the ${drawn} tasks drawn in this step passed admission's pilot rollouts.`, {
    code: "tasks-screened",
    action:
      "The policy may have learned all of them: end the stage, add harder tasks, or choose another admission. A resumed run continues from the last checkpoint.",
  });
