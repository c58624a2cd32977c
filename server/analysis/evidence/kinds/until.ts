import { formatNumber, plural } from "../../../../shared/lib/format.ts";
import type { Json } from "../../../../shared/lib/json.ts";
import { isObject, valueAt } from "../json.ts";
import type { EvidenceKind, Sighting } from "../kind.ts";
import { finite } from "../numbers.ts";
import type { RunView, StageSpan } from "../view.ts";

interface Condition {
  readonly metric: string;
  readonly bound: number;
  readonly above: boolean;
  readonly window: number;
}

/** What a stage waits for: one condition, or the list of those of which one is enough or all have to hold. */
function conditionsOf(until: Json | undefined): {
  readonly of: "any" | "all";
  readonly list: readonly Condition[];
} {
  const of = isObject(until) && Array.isArray(until["all"]) ? "all" : "any";
  const several = isObject(until) ? until[of] : undefined;
  const written = Array.isArray(several) ? several : [until];
  return { of, list: written.flatMap((one: Json | undefined) => conditionOf(one) ?? []) };
}

function conditionOf(until: Json | undefined): Condition | undefined {
  if (!isObject(until)) return undefined;
  const { metric, above, below, window } = until;
  const bound = above ?? below;
  if (typeof metric !== "string" || typeof bound !== "number") return undefined;
  return { metric, bound, above: above !== undefined, window: typeof window === "number" ? window : 10 };
}

/** The best mean over the condition's window that the stage has seen. */
function best(values: readonly number[], { window, above }: Condition): number {
  const means = values.slice(window - 1).map((_, index) => {
    const part = values.slice(index, index + window);
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
  return above ? Math.max(...means) : Math.min(...means);
}

function ofStage(view: RunView, { name, from, to }: StageSpan): Sighting[] {
  const stage = valueAt(view.record.config, ["stages", name]);
  if (!isObject(stage)) return [];
  const { of, list } = conditionsOf(stage["until"]);
  const [first] = list;
  const planned = stage["steps"];
  if (first === undefined || typeof planned !== "number") return [];
  const at = `stages.${name}.until`;
  const reads = [{ path: at }, { path: `stages.${name}.steps` }];
  const ended = Number.isFinite(to)
    ? to
    : view.summary.status === "finished"
      ? view.summary.step + 1
      : undefined;
  if (ended === undefined) return [];
  if (ended - from < planned)
    return [
      {
        level: "note",
        at,
        reads,
        metric: first.metric,
        label: `met at step ${ended - 1}`,
        message: `The condition held after ${plural(ended - from, "step")}, at step ${ended - 1} of the last run.`,
      },
    ];
  const missed = list.flatMap((condition) => missedBy(view, condition, from, ended) ?? []);
  // Where one of several is enough, one that was reached is no longer missed.
  if (of === "any" && missed.length < list.length) return [];
  return missed.map(({ metric, far }) => ({
    level: "diagnostic" as const,
    at,
    reads,
    metric,
    message: `The condition was not met in ${plural(ended - from, "step")}: ${far}.`,
  }));
}

/** How far a stage stayed from a condition; undefined where it got there. */
function missedBy(
  view: RunView,
  condition: Condition,
  from: number,
  ended: number,
): { readonly metric: string; readonly far: string } | undefined {
  const { metric, bound, above, window } = condition;
  const { steps, values } = view.record.series[metric] ?? { steps: [], values: [] };
  const own = finite({
    steps: Float64Array.from(steps),
    values: Float64Array.from(
      [...values].filter((_, index) => steps[index]! >= from && steps[index]! < ended),
    ),
  });
  const reached = own.length < window ? undefined : best(own, condition);
  if (reached !== undefined && (above ? reached > bound : reached < bound)) return undefined;
  const far =
    reached === undefined
      ? `\`${metric}\` was recorded ${plural(own.length, "time")}`
      : `the best mean of \`${metric}\` was ${formatNumber(reached)}, the bound is ${formatNumber(bound)}`;
  return { metric, far };
}

export const until: EvidenceKind = {
  id: "run-until",
  see: (view) => view.spans.flatMap((span) => ofStage(view, span)),
};
