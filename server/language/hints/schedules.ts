/** What a scheduled number is now: at the last run's step, else at the start and at the end. */
import { formatNumber } from "../../../shared/lib/format.ts";
import { scheduleSchema, valueAt, type ScheduleSpec } from "../../core/schedule.ts";
import { toJson, type SourceNode } from "../../config/text/node.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import { nameOf } from "../../config/check/method.ts";
import { placeAt } from "../../config/build/stagePlan.ts";
import type { Clock } from "../../core/basics.ts";
import type { LastRun } from "../../analysis/evidence/types.ts";
import { visits, type Visit } from "../walk.ts";
import type { Hint } from "./hint.ts";
import { rlSteps } from "./scopes.ts";

export function scheduleHints(root: SourceNode, config: RunConfig, last: LastRun | undefined): Hint[] {
  const hints: Hint[] = [];
  for (const visit of visits(root, undefined)) {
    if (visit.node.kind !== "map" || !visit.node.entries.has("schedule")) continue;
    const read = scheduleSchema.safeParse(toJson(visit.node));
    if (!read.success) continue;
    const stage = stageOf(visit, root, config);
    const spec: ScheduleSpec = stage === undefined ? read.data : { ...read.data, clock: "stage" };
    hints.push({ line: visit.node.origin.range.end.line, ...hintOf(spec, stage, config, last) });
  }
  return hints;
}

function hintOf(
  spec: ScheduleSpec,
  stage: StageConfig | undefined,
  config: RunConfig,
  last: LastRun | undefined,
): Omit<Hint, "line"> {
  const steps = stage?.steps ?? rlSteps(config);
  const whose = stage === undefined ? "the run's rl steps" : `the steps of stage \`${stage.name}\``;
  const at = (step: number): string => formatNumber(valueAt(spec, { step, stageStep: step }));
  const [first, end] = [at(0), at(Math.max(0, steps - 1))];
  const detail = `Runs over ${whose}: ${first} at the first of ${steps}, ${end} at the last.`;
  const clock = last === undefined || last.step < 0 ? undefined : clockOf(config, last);
  if (last === undefined || clock === undefined || (stage !== undefined && stage.name !== last.stage))
    return { label: `${first} at the start, ${end} at the end`, detail };
  const now = formatNumber(valueAt(spec, clock));
  return {
    label: `now ${now}`,
    detail: `At step ${last.step} of the last run, \`${last.name}\`: ${now}.\n\n${detail}`,
  };
}

/**
 * Where a run's step is in the stages as they are written. Steps of a run count over all its stages.
 * @returns undefined where the run is in another stage there: an earlier one ended before its time
 */
function clockOf({ stages }: RunConfig, { step, stage }: Pick<LastRun, "step" | "stage">): Clock | undefined {
  const place = placeAt(stages, step);
  return place === undefined || (stage !== null && place.stage.name !== stage) ? undefined : place.clock;
}

/** The stage that writes a value: its schedules count its own steps. */
function stageOf({ path }: Visit, root: SourceNode, { stages }: RunConfig): StageConfig | undefined {
  if (path[0] !== "stages") return undefined;
  const list = root.kind === "map" ? root.entries.get("stages")?.value : undefined;
  const item = list?.kind === "list" && typeof path[1] === "number" ? list.items[path[1]] : undefined;
  const name = item === undefined ? path[1] : nameOf(item, "stage");
  return stages.find((stage) => stage.name === name);
}
