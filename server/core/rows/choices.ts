/**
 * Turns that were drawn among actions (GLAM): one choice each, whatever tokens its action has. What is said of a choice
 * (log-prob, entropy, value) is said at its first token, the only one that trains.
 */
import { origin, type Batch, type Ragged, type RolloutRecord } from "../rollouts.ts";
import type { Tokenizer } from "../policy.ts";
import { raggedOf, trainedContext } from "./batch.ts";
import { commonPrefix } from "./commonPrefix.ts";
import { joinBatches } from "./joinBatches.ts";
import { batchOfSamples, writtenRow } from "./sampledRows.ts";

/** The chosen action's tokens, [first, end) of the batch. */
export interface ChosenSpan {
  readonly row: number;
  readonly first: number;
  readonly end: number;
  readonly actions: readonly string[];
}

export const hasChoices = ({ records }: Pick<Batch, "records">): boolean =>
  records.some(({ turns }) => (turns ?? []).some(({ actions }) => actions !== undefined));

/** The choices in a batch, row after row. */
export const choicesOf = ({ records, offsets, origin: origins }: Batch): ChosenSpan[] =>
  records.flatMap(({ turns = [] }, row) =>
    turns.flatMap(({ actions, start, end: last }): ChosenSpan[] => {
      if (actions === undefined) return [];
      const end = offsets[row]! + last;
      let first = offsets[row]! + start;
      while (first < end && origins[first] !== origin.written) first += 1;
      return first < end ? [{ row, first, end, actions }] : [];
    }),
  );

/** Tokens [first, end) of an action in a batch that has all of them. */
export interface ActionSpan {
  readonly first: number;
  readonly end: number;
}

export interface WithAlternatives {
  /** The batch's rows, then one for each action that was not chosen. No record in it has turns. */
  readonly whole: Batch;
  /** Of each choice: the chosen action first, then the others. */
  readonly choices: readonly (readonly [ActionSpan, ...ActionSpan[]])[];
}

/** Whether two actions are the same tokens. */
export const isSameAction = (one: Int32Array, other: Int32Array): boolean =>
  one.length === other.length && commonPrefix(one, other) === one.length;

/** Each row's context, followed by the row's tokens before its choice. */
const contextsBefore = (context: Ragged, batch: Batch, spans: readonly ChosenSpan[]): Ragged =>
  raggedOf(
    spans.map(({ row, first }) => [
      ...context.values.subarray(context.offsets[row], context.offsets[row + 1]),
      ...batch.tokens.subarray(batch.offsets[row], first),
    ]),
  );

/** The rows with those that might have been in their place: what a choice is a choice among. */
export function withAlternatives(batch: Batch, tokenizer: Tokenizer): WithAlternatives {
  const bare = batch.records.map(({ turns: _, ...record }): RolloutRecord => record);
  const spans: ChosenSpan[] = [];
  const actions: Int32Array[] = [];
  const counts = choicesOf(batch).map((chosen) => {
    const own = batch.tokens.subarray(chosen.first, chosen.end);
    const others = chosen.actions
      .map((action) => tokenizer.encode(action))
      .filter((tokens) => !isSameAction(tokens, own));
    spans.push(...others.map(() => chosen));
    actions.push(...others);
    return { chosen, others: others.length };
  });
  const context = contextsBefore(trainedContext(batch), batch, spans);
  const rows = batchOfSamples(
    spans.map(({ row }, i) =>
      writtenRow(
        bare[row]!,
        actions[i]!,
        context.values.subarray(context.offsets[i], context.offsets[i + 1]),
      ),
    ),
  );
  const contexts = Object.fromEntries(
    Object.entries(batch.contexts ?? {}).map(([name, one]) => [name, contextsBefore(one, batch, spans)]),
  );
  const added: Batch = { ...rows, ...(batch.contexts !== undefined && { contexts }) };
  const names = [batch, added].flatMap(({ group }, i) => [...group].map((one) => `${i}/${one}`));
  const whole = joinBatches([{ ...batch, records: bare }, added], names);
  let next = batch.rows;
  const choices = counts.map(({ chosen, others }): [ActionSpan, ...ActionSpan[]] => [
    { first: chosen.first, end: chosen.end },
    ...Array.from({ length: others }, () => {
      next += 1;
      return { first: whole.offsets[next - 1]!, end: whole.offsets[next]! };
    }),
  ]);
  return { whole: { ...whole, ...(batch.version !== undefined && { version: batch.version }) }, choices };
}
