/** What a run's events tell the panel: what went wrong, and how far an evaluation is. */
import {
  eventsQuery,
  rewardErrors,
  type EvaluationRow,
  type EventRow,
  type RunSummary,
} from "../../../shared/protocol/protocol.ts";
import type { PanelEvent, PanelFailures } from "../../../shared/editor/runPanel.ts";
import { isLive } from "../../../shared/protocol/runStatus.ts";
import type { Asker } from "../connection/asker.ts";

export const noFailures: PanelFailures = { failures: [], kinds: 0, failed: {}, rollouts: 0 };

export interface RunEvents {
  readonly errors: number;
  readonly failures: PanelFailures;
  /** What the timeline marks: warnings, errors and live settings, each kind at a step once. */
  readonly told: readonly PanelEvent[];
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
  return {
    errors: own.length,
    failures,
    told: marked(events),
    evaluating: events.findLast(({ name }) => name === "evaluating"),
  };
}

const mostMarked = 500;
function marked(events: readonly EventRow[]): readonly PanelEvent[] {
  const found = new Map<string, PanelEvent>();
  for (const { step, severity, name, message } of events) {
    const setting = name === "set";
    // Several settings may change before one step.
    const key = `${step} ${name}${setting ? message : ""}`;
    if ((severity === "info" && !setting) || found.has(key) || found.size >= mostMarked) continue;
    found.set(key, { step, severity, message, ...(setting && { setting }) });
  }
  return [...found.values()];
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
