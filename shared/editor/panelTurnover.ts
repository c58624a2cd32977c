/** What the run panel shows of tasks that were learned and lost again. */
import type { Forgotten, Turnover } from "../run/turnover.ts";

export interface PanelForgotten extends Forgotten {
  /** Its beginning; null: its answers were not kept. */
  readonly prompt: string | null;
}

export interface PanelTurnover extends Pick<
  Turnover,
  "first" | "last" | "tasks" | "kept" | "arms" | "course"
> {
  readonly learned: number;
  readonly forgotten: number;
  /** Those whose answers were kept come first, then those that were lost last. */
  readonly listed: readonly PanelForgotten[];
}

/** Forgotten tasks that a panel lists. */
export const mostForgotten = 200;
/** Characters of a prompt. */
const mostPrompt = 200;

/** @param prompts by task, of those whose answers were kept */
export function panelTurnover(found: Turnover, prompts: ReadonlyMap<string, string>): PanelTurnover {
  const { first, last, tasks, kept, arms, course, learned, forgotten } = found;
  const listed = forgotten
    .map((one): PanelForgotten => ({ ...one, prompt: prompts.get(one.task)?.slice(0, mostPrompt) ?? null }))
    .toSorted(
      (one, other) =>
        Number(one.prompt === null) - Number(other.prompt === null) || other.lost - one.lost || 0,
    );
  return {
    ...{ first, last, tasks, kept, arms, course },
    learned: learned.length,
    forgotten: forgotten.length,
    listed: listed.slice(0, mostForgotten),
  };
}
