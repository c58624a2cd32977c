import type { Json } from "../../../../shared/lib/json.ts";
import { formatNumber } from "../../../../shared/lib/format.ts";
import { effective, isObject } from "../json.ts";
import type { EvidenceKind, Sighting } from "../kind.ts";
import type { RunView } from "../view.ts";

/** Blocks that may hold schedules. */
const blocks = ["rollout", "reward", "advantage", "objective", "kl", "tasks", "replay", "auxiliary"];

/** Every schedule below a value, with its path. */
function* schedules(
  value: Json | undefined,
  path: string,
): Generator<{ path: string; end: number; to: Json }> {
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) {
      const name: unknown = isObject(item) ? item["name"] : undefined;
      yield* schedules(item, `${path}.${typeof name === "string" ? name : index}`);
    }
  if (!isObject(value)) return;
  const { schedule, over, start, to } = value;
  if (typeof schedule === "string" && typeof over === "number")
    yield { path, end: (typeof start === "number" ? start : 0) + over, to: to ?? null };
  else for (const [key, below] of Object.entries(value)) yield* schedules(below, `${path}.${key}`);
}

/** Schedules of the top level count the steps of all rl stages, those that a stage writes its own. */
function ended(view: RunView, path: string, end: number): number | undefined {
  const own = view.stage !== null && view.at(path) !== path;
  if (!own) return view.stepAt(end);
  const step = view.span.from + end;
  return step < Math.min(view.span.to, view.summary.step + 1) ? step : undefined;
}

export const scheduleEnds: EvidenceKind = {
  id: "run-schedule-ended",
  see: (view) =>
    blocks.flatMap((block) =>
      [...schedules(effective(view.record.config, view.stage, block), block)].flatMap(
        ({ path, end, to }): Sighting | [] => {
          const step = ended(view, path, end);
          if (step === undefined) return [];
          const value = typeof to === "number" ? formatNumber(to) : "its end";
          return {
            level: "note",
            at: path,
            reads: [{ path }],
            label: `ended at step ${step}`,
            message: `The schedule ended at step ${step} of the last run: ${value} since then.`,
          };
        },
      ),
    ),
};
