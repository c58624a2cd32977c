/** `gradus rollouts RUN --task ID`: one task through training. */
import { ask, type Requester } from "../../../shared/daemon/request.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { formatNumber } from "../../../shared/lib/format.ts";
import { visibleLine } from "../../../shared/lib/visibleText.ts";
import { evaluationsQuery, groupsQuery, rolloutsQuery } from "../../../shared/protocol/protocol.ts";
import { fromWire, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import {
  rewardText,
  rightText,
  taskHistory,
  taskSummary,
  type TaskStep,
} from "../../../shared/rollouts/taskHistory.ts";
import { print } from "../command.ts";

const page = 1_024;

/** @param where of the task, and what else is asked */
export async function followTask(
  connection: Requester,
  run: string,
  task: string,
  where: string | undefined,
): Promise<void> {
  const rollouts: RolloutRow[] = [];
  for (let after: string | null | undefined; after !== null;) {
    const answer = await ask(connection, rolloutsQuery, {
      run,
      limit: page,
      ...(where !== undefined && { where }),
      ...(after !== undefined && { after }),
    });
    rollouts.push(...answer.rollouts);
    after = answer.next;
  }
  const [{ groups }, { evaluations }] = [
    await ask(connection, groupsQuery, { run, by: "task", names: [task] }),
    await ask(connection, evaluationsQuery, { run, tasks: true }),
  ];
  const steps = taskHistory(groups, rollouts, { task, evaluations });
  if (steps.length === 0)
    throw new UserError(`No rollout of ${run} is of the task ${visibleLine(task)}.`, {
      code: "rollouts-empty",
      action: `Names of tasks are in gradus rollouts ${run} --json, as task.id.`,
    });
  print(`${visibleLine(task)}\n${taskSummary(steps)}`);
  for (const step of steps) print(stepText(step));
}

function stepText(step: TaskStep): string {
  const { best, worst } = step;
  return [
    `\n${[`step ${step.step}`, rightText(step), rewardText(step)].filter(Boolean).join("  ")}${step.admitted === false ? `  left out${step.reason === null ? "" : `: ${step.reason}`}` : ""}`,
    ...(best === undefined ? [] : [responseText("best ", best)]),
    ...(worst === undefined || worst === best ? [] : [responseText("worst", worst)]),
  ].join("\n");
}

const responseText = (word: string, { index, reward = null, response = "" }: RolloutRow): string =>
  `  ${word} [${index}] ${formatNumber(fromWire(reward)).padStart(7)}  ${visibleLine(response)}`;
