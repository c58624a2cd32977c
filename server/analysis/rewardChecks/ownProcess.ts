/** Tasks whose tests run in the program's own process, where a policy may fool them. */
import { markedText, ownProcessTests } from "../../methods/reward/code/ownProcess.ts";
import { unitTests } from "../../methods/reward/code/unitTests.ts";
import { applies } from "../../algorithm/rewards/rewards.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import type { ScoredAnswer } from "./answers.ts";
import type { CheckedTask } from "./checkedTasks.ts";

export interface OwnProcessTasks {
  readonly tasks: number;
  /** The first of them, with the first such test and the reason. */
  readonly first: Omit<CheckedTask, "task"> & { readonly task: string; readonly test: string };
}

/**
 * Those whose tests show it, and those whose reference answer was graded so; undefined: there are none.
 * @param scored reference answers
 */
export function ownProcessTasks(
  { reward }: StageBody,
  tasks: readonly CheckedTask[],
  scored: readonly ScoredAnswer[],
): OwnProcessTasks | undefined {
  const graded = new Map(
    scored.flatMap(({ task, ownProcess }) => (ownProcess === undefined ? [] : [[task, ownProcess]])),
  );
  const terms = reward.terms.filter(({ term }) => term.declaration === unitTests);
  const found = tasks.flatMap(({ task, ...place }) => {
    const [shown] = terms
      .filter((term) => applies(term, task.source))
      .flatMap(({ term }) => ownProcessTests(task, unitTests.params.parse(term.params)));
    const test = graded.get(task) ?? (shown && markedText(shown.code, shown.why));
    return test === undefined ? [] : [{ ...place, task: task.id, test }];
  });
  const [first] = found;
  return first === undefined ? undefined : { tasks: found.length, first };
}
