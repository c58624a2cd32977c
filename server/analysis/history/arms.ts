/** The arms that a history speaks of. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { nearest } from "../../lib/suggest.ts";
import { everything } from "../../methods/curriculum/arms/undivided.ts";
import { NamedArms } from "../../methods/curriculum/armSet.ts";
import type { Curriculum } from "../../algorithm/curriculum/curriculum.ts";
import type { ArmSet } from "../../core/slots/arms.ts";
import type { Division } from "../../core/slots/curriculum.ts";
import type { HistoryGroup } from "./read.ts";

/**
 * Where each arm is one task, and the history's tasks are not those that the config's sources hold (an environment
 * makes others each time), the arms are those of the history: its arms, where each has one task, else its tasks.
 * undefined: the config's own division knows them.
 * @param made tasks that the run has made, which no source holds
 */
export function divisionOf(
  body: StageBody,
  own: Curriculum,
  history: readonly HistoryGroup[],
  made: ReadonlySet<string>,
): Division | undefined {
  if (own.division.once === undefined) return undefined;
  if (history.every((group) => made.has(taskName(group)) || heldName(own.arms, group) !== undefined))
    return undefined;
  const source = body.tasks[0]?.name ?? "";
  const names = new NamedArms(history.map((group) => promptArm(group, history)));
  return {
    arms: names,
    once: true,
    draw: (arm) => ({ id: names.name(arm), source, env: "", prompt: "", data: {} }),
    armOf: () => -1,
    prior: () => 1,
    familyOf: () => source,
    families: body.tasks.map(({ name }) => name),
  };
}

/** Names of the tasks that a recorded run has made while it went on. */
export const madeIn = (history: readonly HistoryGroup[]): ReadonlySet<string> =>
  new Set(
    history.flatMap(({ curriculum }) =>
      (curriculum?.told ?? []).flatMap((one) =>
        one.kind === "appeared" ? one.tasks.map(({ source, id }) => `${source}/${id}`) : [],
      ),
    ),
  );

const singles = new WeakMap<readonly HistoryGroup[], boolean>();

/** A run reports the set that a task belongs to as its arm: the arm that is the task has its name after the source's. */
const taskName = ({ arm, task }: HistoryGroup): string => `${arm.split("/")[0]}/${task}`;

/** Of arms that are tasks, the one that a group is of. */
const heldName = (arms: ArmSet, group: HistoryGroup): string | undefined =>
  [group.arm, taskName(group)].find((name) => arms.find(name) >= 0);

/** The arm that a group's task is. */
function promptArm(group: HistoryGroup, history: readonly HistoryGroup[]): string {
  return eachArmOneTask(history) ? group.arm : taskName(group);
}

/** The arm of a group in this curriculum. */
export function nameIn(
  { arms, division }: Curriculum,
  group: HistoryGroup,
  history: readonly HistoryGroup[],
): string {
  if (division.once !== true) return within(arms, group.arm);
  return heldName(arms, group) ?? promptArm(group, history);
}

/** Where the config divides its tasks less than the recorded run did, the arm that a recorded one is a part of. */
function within(arms: ArmSet, arm: string): string {
  if (arms.size === 1 && arms.find(everything) === 0) return everything;
  for (let end = arm.length; end > 0; end = arm.lastIndexOf("/", end - 1)) {
    const part = arm.slice(0, end);
    if (arms.find(part) >= 0) return part;
  }
  return arm;
}

function eachArmOneTask(history: readonly HistoryGroup[]): boolean {
  const known = singles.get(history);
  if (known !== undefined) return known;
  const tasks = new Map<string, string>();
  const single = history.every(({ arm, task }) => {
    const first = tasks.get(arm) ?? task;
    tasks.set(arm, first);
    return first === task;
  });
  // A single task would be its arm's only one whatever the arm means.
  const answer = single && tasks.size > 1;
  singles.set(history, answer);
  return answer;
}

/** @throws UserError for a group of an arm that the curriculum has not */
export function checkArm({ arm, place }: HistoryGroup, { arms }: Curriculum): void {
  if (arms.find(arm) >= 0) return;
  const names = Array.from({ length: Math.min(arms.size, 50) }, (_, number) => arms.name(number));
  const near = nearest(arm, names);
  throw new UserError(
    `the config has no arm ${JSON.stringify(arm)}${near === undefined ? "" : `: did you mean ${JSON.stringify(near)}?`}`,
    {
      ...place,
      character: 0,
      code: "history-arm",
      action: `Its arms are ${names.slice(0, 12).join(", ")}${arms.size > 12 ? ", …" : ""}: use these names in the history, or choose other \`tasks\` or \`curriculum.arms\`.`,
    },
  );
}
