/** Rollouts that only tell how hard tasks are now: they train nothing and are not kept. */
import type { DrawnTask } from "../../../algorithm/curriculum/curriculum.ts";
import type { Probe, Verdict } from "../../../core/slots/curriculum.ts";
import type { Task } from "../../../core/task.ts";
import type { Arm } from "../../../core/basics.ts";
import type { Batch, Group } from "../../../core/rollouts.ts";
import type { Place } from "../context.ts";
import { writing } from "../rollouts/decoding.ts";
import { dividedIn } from "../rollouts/divide.ts";
import { draftsOf, placesOf } from "../rollouts/generate.ts";
import { written } from "../rollouts/paid.ts";
import { rewardContext } from "../../loop/session.ts";
import { solved } from "../../stages/supervised.ts";
import { groupsOf } from "../../../algorithm/rewards/groups.ts";

/** How tasks are tried: the temperature is the run's own where none is given. */
interface Tries {
  readonly samples: number;
  readonly temperature?: number;
}

/** One group for each task, scored by the terms that need nothing that learns in the step. */
export async function tried(
  place: Place,
  tasks: readonly DrawnTask[],
  { samples, temperature }: Tries,
  key: readonly (string | number)[],
): Promise<Group[]> {
  const { session, stage, step } = place;
  const { algorithm, config } = stage;
  const places = placesOf(
    tasks.map(({ arm, task }) => ({ arm, task })),
    new Set(),
  );
  const drafts = draftsOf(places, samples, session.policy, [...key, step], "estimate", config.body.rollout);
  const { temperature_at, ...decode } = writing(place);
  const how =
    temperature === undefined
      ? { ...decode, ...(temperature_at === undefined ? {} : { temperature_at }) }
      : { ...decode, temperature };
  const batch = algorithm.masked(dividedIn(place, await written(place, drafts, how)));
  return paid(place, batch);
}

/** What rollouts are paid by the terms that need nothing that learns in the step. */
async function paid({ session, stage, clock, watch }: Place, batch: Batch): Promise<Group[]> {
  const { algorithm, scorer } = stage;
  const columns = await watch.time("reward", () => scorer.scorePlain(batch, rewardContext(session, clock)));
  return groupsOf(batch, algorithm.rewards(columns, batch, clock));
}

/** Written solutions, or answers where there are none, as responses: a group of one each; undefined: a task has neither. */
export async function graded(place: Place, tasks: readonly Task[], arm: Arm): Promise<(Group | undefined)[]> {
  const { session, stage } = place;
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
  const groups = await paid(place, dividedIn(place, { ...written, records }));
  return tasks.map((_, i) => groups[open.findIndex((one) => one.i === i)]);
}

/** Rollouts from which on a look at the arms is told: until it is over the run shows no step. */
const worthTelling = 512;

function tellTrying({ session, stage }: Place, { arms, samples }: Probe): void {
  const { size } = stage.curriculum.arms;
  if (Math.max(size, arms.length) * samples < worthTelling) return;
  const message = `The curriculum tries arms before it draws: ${samples} rollouts of each of ${arms.length}${size > arms.length ? `, of ${size} arms in all` : ""}.`;
  session.recorder.event("info", "trying-arms", message, { data: { arms: arms.length, of: size, samples } });
  // Seen at once: nothing else of the step is recorded yet.
  session.recorder.commit();
}

/** Tries what the estimator wants to know before the step's tasks are drawn, until it asks no more. */
export async function probe(place: Place): Promise<void> {
  const { stage, clock } = place;
  const { curriculum } = stage;
  for (let wish = curriculum.probe(clock), n = 0; wish !== undefined; wish = curriculum.probe(clock), n++) {
    if (n === 0) tellTrying(place, wish);
    const tasks = curriculum.tasksOf(wish, place.session.config.seed, clock);
    curriculum.probed(await tried(place, tasks, wish, ["probe", n]), clock);
  }
}

/** The drawn tasks that pass admission's own tries, where it has any. */
export async function screen(
  place: Place,
  drawn: readonly DrawnTask[],
  round: number,
): Promise<readonly DrawnTask[]> {
  const { screen: tries } = place.stage.curriculum.admission;
  if (tries === undefined) return drawn;
  const groups = await tried(place, drawn, tries, ["screen", round]);
  const verdicts = groups.map((group): Verdict => tries.admit(group));
  return drawn.filter((_, i) => verdicts[i]!.admitted);
}
