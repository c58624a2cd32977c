/** A rollout as text alone: what a run with another tokenizer can read of it. */
import { UserError } from "../../../../shared/lib/errors.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import type { RecordedRow } from "../../../analysis/recorded.ts";

/** Whether the text alone says which of it the policy wrote. */
export const isText = ({ turns = [], part }: RolloutRow): boolean => turns.length <= 1 && part === undefined;

/** What of a rollout says nothing by token. */
export function textFields(row: RolloutRow): RolloutRow {
  const { run, step, group, index, task, prompt, response, finish, source, use, rewards, errors, reward } =
    row;
  return {
    ...{ step, group, index },
    ...(prompt !== undefined && { prompt }),
    ...(response !== undefined && { response }),
    ...(run !== undefined && { run }),
    ...(task && { task }),
    ...(finish && { finish }),
    ...(source && { source }),
    ...(use && { use }),
    ...(rewards && { rewards }),
    ...(errors && { errors }),
    ...(reward !== undefined && { reward }),
  };
}

/** @throws UserError where it cannot be read as text */
export function textOf({ row, place }: RecordedRow): RolloutRow {
  if (!isText(row))
    throw new UserError("a rollout of several turns cannot be read as text", { ...place, character: 0 });
  if (row.prompt === undefined || row.response === undefined)
    throw new UserError('the rollout has no "prompt" or no "response"', { ...place, character: 0 });
  return textFields(row);
}
