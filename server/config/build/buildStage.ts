/** From a checked stage to what the run reads. */
import { z } from "zod";
import type { Json, JsonObject } from "../../../shared/json.ts";
import { metricNamed } from "../../../shared/metrics.ts";
import { supervisedBatch } from "../grammar/defaults.ts";
import type { Condition, StageBody } from "../../core/config/resolved.ts";
import type { conditionSchema } from "../grammar/stageFields.ts";
import {
  carryOverSchema,
  crossfadeSchema,
  mergeSchema,
  onEnterSchema,
  untilSchema,
} from "../grammar/stageFields.ts";
import type { MergePart, OnEnter, StageConfig, Until } from "../../core/config/stageConfig.ts";
import type { StageTree } from "./types.ts";

/** @param json the stage's own keys, as written */
export function buildStage(json: JsonObject, tree: StageTree, body: StageBody): StageConfig {
  const { name, kind, steps, turns, part } = tree;
  const read = <Value>(key: string, make: (written: Json) => Value): Value | undefined =>
    json[key] === undefined || json[key] === null ? undefined : make(json[key]);
  return {
    name,
    kind,
    steps,
    until: read("until", untilOf),
    on_enter: onEnterOf(json["on_enter"] ?? [], tree.refreshes),
    body,
    batch: read("batch", (batch) => z.number().parse(batch)) ?? supervisedBatch,
    pairs: read("pairs", (pairs) => z.enum(["dataset", "rollouts"]).parse(pairs)) ?? "dataset",
    trains: read("trains", (model) => z.string().parse(model)),
    merge: read("merge", mergeOf) ?? [],
    crossfade: read("crossfade", (written) => {
      const { over, shape, of } = crossfadeSchema.parse(written);
      return { over, shape, tasks: of.includes("tasks"), rewards: of.includes("rewards") };
    }),
    turns,
    part,
  };
}

function untilOf(json: Json): Until {
  const written = untilSchema.parse(json);
  if ("any" in written) return { of: "any", conditions: written.any.map(conditionOf) };
  if ("all" in written) return { of: "all", conditions: written.all.map(conditionOf) };
  return { of: "any", conditions: [conditionOf(written)] };
}

function conditionOf(written: z.output<typeof conditionSchema>): Condition {
  const { metric, window, above, below, patience, min_delta, mode } = written;
  return {
    metric,
    window: window ?? (metric.startsWith("eval/") ? 1 : 10),
    min_delta,
    mode: mode ?? betterWay(metric),
    ...(above === undefined ? {} : { above }),
    ...(below === undefined ? {} : { below }),
    ...(patience === undefined ? {} : { patience }),
  };
}

/** Which way a metric gets better. */
export const betterWay = (metric: string): "max" | "min" =>
  metricNamed(metric)?.better === "lower" ? "min" : "max";

const mergeOf = (json: Json): MergePart[] =>
  mergeSchema.parse(json).map((part): MergePart => {
    const { weight } = part;
    if ("stage" in part) return { source: { kind: "stage", name: part.stage }, weight };
    if ("snapshot" in part) return { source: { kind: "snapshot", name: part.snapshot }, weight };
    if ("checkpoint" in part) return { source: { kind: "checkpoint", path: part.checkpoint }, weight };
    return { source: { kind: "model", name: part.model }, weight };
  });

/** @param refreshes copies that the stage's kind begins anew */
function onEnterOf(json: Json, refreshes: readonly string[]): OnEnter {
  const written = onEnterSchema.parse(json);
  if (Array.isArray(written))
    return {
      refreshReference: written.includes("refresh_reference"),
      resetOptimizer: written.includes("reset_optimizer"),
      models: refreshes,
      snapshot: undefined,
      merge: [],
      carryOver: undefined,
    };
  const { reference, optimizer, models = [], snapshot, merge, carry_over } = written;
  return {
    refreshReference: reference !== undefined,
    resetOptimizer: optimizer !== undefined,
    models: [...new Set([...refreshes, ...models])],
    snapshot,
    merge: merge === undefined ? [] : mergeOf(merge),
    carryOver: carry_over === undefined ? undefined : carryOverSchema.parse(carry_over),
  };
}
