/** What a run's events tell the panel: what went wrong, and how far an evaluation is. */
import {
  eventsQuery,
  rewardErrors,
  type EvaluationRow,
  type EventRow,
  type RunSummary,
} from "../../../shared/protocol/protocol.ts";
import type { PanelFailures } from "../../../shared/editor/runPanel.ts";
import { isLive } from "../../../shared/protocol/runStatus.ts";
import type { Asker } from "../connection/asker.ts";

export const noFailures: PanelFailures = { failures: [], kinds: 0, failed: {}, rollouts: 0 };

export interface RunEvents {
  readonly errors: number;
  readonly failures: PanelFailures;
  readonly evaluating: EventRow | undefined;
}

/**
 * Errors that are of no reward term, what reward terms failed with, and the last word of an evaluation.
 * A daemon of an earlier version does not know the question about rewards: it reports their errors as events alone.
 */
export async function readEvents(source: Asker, run: string): Promise<RunEvents> {
  const [{ events }, failures] = await Promise.all([
    source.ask(eventsQuery, { run }),
    askFailures(source, run).catch(() => noFailures),
  ]);
  const own = events.filter(({ severity, name }) => severity === "error" && name !== "reward-error");
  return { errors: own.length, failures, evaluating: events.findLast(({ name }) => name === "evaluating") };
}

/** How far the evaluation is that is under way; undefined: none is. */
export function evaluationUnderWay(
  event: EventRow | undefined,
  { status, step, attempt }: RunSummary,
  evaluations: readonly EvaluationRow[],
): string | undefined {
  if (event === undefined || !isLive(status) || event.attempt < attempt || event.step < step)
    return undefined;
  return evaluations.some((one) => one.step >= event.step) ? undefined : event.message;
}

async function askFailures(source: Asker, run: string): Promise<PanelFailures> {
  const { failures, kinds, failed, rollouts } = await source.ask(rewardErrors, { run });
  return { failures, kinds, failed, rollouts };
}
