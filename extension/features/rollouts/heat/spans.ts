/** Stretches of a response that a reward term scored by themselves: values by token or by step. Pure. */
import { fromWire, type RolloutRow } from "../../../../shared/rollouts/rollouts.ts";

/** Tokens [from, to). */
export interface TermSpan {
  readonly term: string;
  readonly from: number;
  readonly to: number;
  readonly value: number;
  /** "step 2", "these 5 tokens". */
  readonly what: string;
}

/** In order. A whole turn's reward is in the turn's title. */
export function spansOf({ rewards = {}, steps = [] }: Pick<RolloutRow, "rewards" | "steps">): TermSpan[] {
  return Object.entries(rewards)
    .flatMap(([term, reward]): TermSpan[] => {
      if (reward === null || typeof reward !== "object" || reward.level === "turn") return [];
      const values = reward.values.map(fromWire);
      return reward.level === "step"
        ? steps.flatMap(([from, to], i) => spanOf(term, from, to, values[i] ?? Number.NaN, `step ${i + 1}`))
        : runsOf(values).flatMap(({ from, to, value }) =>
            spanOf(
              term,
              from,
              to,
              value,
              to - from === 1 ? "this token" : `each of these ${to - from} tokens`,
            ),
          );
    })
    .sort((a, b) => a.from - b.from);
}

/** A value of 0 scored nothing. */
const spanOf = (term: string, from: number, to: number, value: number, what: string): TermSpan[] =>
  Number.isNaN(value) || value === 0 || from >= to ? [] : [{ term, from, to, value, what }];

/** Neighbours with one value. */
function runsOf(values: readonly number[]): { from: number; to: number; value: number }[] {
  const runs: { from: number; to: number; value: number }[] = [];
  values.forEach((value, at) => {
    const last = runs.at(-1);
    if (last?.value === value) last.to = at + 1;
    else runs.push({ from: at, to: at + 1, value });
  });
  return runs;
}
