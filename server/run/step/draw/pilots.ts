/** Pilot rollouts: they measure how hard tasks are now, train nothing and are not kept. */
import type { DrawnTask } from "../../../algorithm/curriculum/draws.ts";
import type { PilotRollouts, Verdict } from "../../../core/slots/curriculum.ts";
import type { Task } from "../../../core/task.ts";
import type { Arm } from "../../../core/basics.ts";
import type { Batch, Group } from "../../../core/rollouts.ts";
import type { StepContext } from "../context.ts";
import { stepDecoding } from "../generate/decoding.ts";
import { dividedIn } from "../generate/divide.ts";
import { draftsOf } from "../generate/generate.ts";
import { namedGroups } from "../../../algorithm/curriculum/namedGroups.ts";
import { generateWith } from "../generate/stepRollouts.ts";
import { rewardContext } from "../../loop/session.ts";
import { solved } from "../../stages/supervised.ts";
import { groupsOf } from "../../../algorithm/rewards/groups.ts";

/** How many pilot rollouts a task gets, and at which temperature; by default the run's own. */
interface PilotSettings {
  readonly samples: number;
  readonly temperature?: number;
}

/** One group for each task, scored by the terms that need nothing that learns in the step. */
export async function pilotGroups(
  context: StepContext,
  tasks: readonly DrawnTask[],
  { samples, temperature }: PilotSettings,
  key: readonly (string | number)[],
): Promise<Group[]> {
  const { session, stage, step } = context;
  const { algorithm, config } = stage;
  const groups = namedGroups(
    tasks.map(({ arm, task }) => ({ arm, task })),
    new Set(),
  );
  const drafts = draftsOf(groups, samples, session.policy, [...key, step], "estimate", config.body.rollout);
  const { temperature_at, ...decode } = stepDecoding(context);
  const how =
    temperature === undefined
      ? { ...decode, ...(temperature_at === undefined ? {} : { temperature_at }) }
      : { ...decode, temperature };
  const batch = algorithm.masked(dividedIn(context, await generateWith(context, drafts, how)));
  return scoredGroups(context, batch);
}

/** The rollouts' groups, scored by the terms that need nothing that learns in the step. */
async function scoredGroups({ session, stage, clock, watch }: StepContext, batch: Batch): Promise<Group[]> {
  const { algorithm, scorer } = stage;
  const columns = await watch.time("reward", () => scorer.scorePlain(batch, rewardContext(session, clock)));
  return groupsOf(batch, algorithm.rewards(columns, batch, clock));
}

/** Written solutions, or answers where there are none, as responses: a group of one each; undefined: a task has neither. */
export async function graded(
  context: StepContext,
  tasks: readonly Task[],
  arm: Arm,
): Promise<(Group | undefined)[]> {
  const { session, stage } = context;
  const open = tasks.flatMap((task, i) => {
    const solution = task.solution ?? task.answer;
    return solution === undefined ? [] : [{ i, task: { ...task, solution } }];
  });
  if (open.length === 0) return tasks.map(() => undefined);
  const { rollout } = stage.config.body;
  const written = solved(
    open.map(({ task }) => task),
    session.policy.tokenizer,
    rollout,
  );
  const records = written.records.map((record) => ({ ...record, arm, use: "estimate" as const }));
  const groups = await scoredGroups(context, dividedIn(context, { ...written, records }));
  return tasks.map((_, i) => groups[open.findIndex((one) => one.i === i)]);
}

/** Pilot rollouts from which on they are reported: the run shows no step until they are done. */
const worthReporting = 512;

function reportPilots({ session, stage }: StepContext, { arms, samples }: PilotRollouts): void {
  const { size } = stage.curriculum.arms;
  if (Math.max(size, arms.length) * samples < worthReporting) return;
  const message = `The curriculum measures arms before it draws tasks: ${samples} pilot rollouts of each of ${arms.length}${size > arms.length ? `, of ${size} arms in all` : ""}.`;
  session.recorder.event("info", "trying-arms", message, { data: { arms: arms.length, of: size, samples } });
  // Seen at once: nothing else of the step is recorded yet.
  session.recorder.commit();
}

/** Pilot rollouts that the estimator asks for before the step's tasks are drawn, until it asks for no more. */
export async function pilotArms(context: StepContext): Promise<void> {
  const { stage, clock } = context;
  const { curriculum } = stage;
  for (
    let wish = curriculum.nextPilots(clock), n = 0;
    wish !== undefined;
    wish = curriculum.nextPilots(clock), n++
  ) {
    if (n === 0) reportPilots(context, wish);
    const tasks = curriculum.tasksOf(wish, context.session.config.seed, clock);
    curriculum.observePilots(await pilotGroups(context, tasks, wish, ["probe", n]), clock);
  }
}

/** The drawn tasks that pass admission's own pilot rollouts, where it has any. */
export async function screen(
  context: StepContext,
  drawn: readonly DrawnTask[],
  round: number,
): Promise<readonly DrawnTask[]> {
  const { screen: pilots } = context.stage.curriculum.admission;
  if (pilots === undefined) return drawn;
  const groups = await pilotGroups(context, drawn, pilots, ["screen", round]);
  const verdicts = groups.map((group): Verdict => pilots.admit(group));
  return drawn.filter((_, i) => verdicts[i]!.admitted);
}
