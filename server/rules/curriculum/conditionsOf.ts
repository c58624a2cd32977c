import type { Condition } from "../../core/blocks/stage.ts";
import type { StageView } from "../../config/check/model.ts";
import { at } from "../rule.ts";

/** One condition of a stage's end with the place it was written at: `until`, or `until.any.0`. */
export interface WrittenCondition {
  readonly condition: Condition;
  readonly place: readonly string[];
}

export function conditionsOf({ config, written }: StageView): WrittenCondition[] {
  const { until } = config;
  if (until === undefined) return [];
  const alone = at(written, "until", until.of) === undefined;
  return until.conditions.map((condition, index) => ({
    condition,
    place: alone ? ["until"] : ["until", until.of, String(index)],
  }));
}
