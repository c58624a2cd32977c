import type { Fix } from "../../config/check/diagnostic.ts";
import { conditionsOf, type WrittenCondition } from "./conditionsOf.ts";
import { metricRange, type ValueRange } from "../ranges.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { at as nodeAt, eachStage, type Rule } from "../rule.ts";

type Side = "above" | "below";

/** A bound that the metric always or never keeps; it has to be crossed, not only reached. */
function verdictOf(side: Side, bound: number, [least, most]: ValueRange): "never" | "always" | undefined {
  if (side === "above") return bound >= most ? "never" : bound < least ? "always" : undefined;
  return bound <= least ? "never" : bound > most ? "always" : undefined;
}

/** The bound of a condition lies where the metric's values are. */
export const untilRange: Rule = {
  id: "until-range",
  title: "Bound that a metric never or always crosses",
  why: "A fraction lies between 0 and 1. A reward lies between the least and the most that its terms can give, each times its weight. A condition above the most, or below the least, never holds, so the stage lasts all of its `steps`. A condition on the other side holds as soon as its window is full, and the stage ends before it has taught anything. The metric has to cross the bound: a mean of exactly 1 is not above 1.\n\nSet a bound inside the range. Write percentages as fractions.",
  check: eachStage((view, model) => {
    for (const written of conditionsOf(view)) {
      const range = metricRange(written.condition.metric, view.config.body);
      if (range === undefined) continue;
      for (const side of ["above", "below"] as const) checkSide(model, view, written, side, range);
    }
  }),
};

function checkSide(
  model: ConfigModel,
  view: StageView,
  { condition: until, place }: WrittenCondition,
  side: Side,
  range: ValueRange,
): void {
  const bound = until[side];
  const at = nodeAt(view.written, ...place, side)?.origin;
  const verdict = bound === undefined ? undefined : verdictOf(side, bound, range);
  if (bound === undefined || at === undefined || verdict === undefined) return;
  const lies = `\`${until.metric}\` lies between ${rounded(range[0])} and ${rounded(range[1])}`;
  const then =
    verdict === "never"
      ? `is never ${side} ${bound}, so the stage always lasts all of its ${view.config.steps} steps`
      : `is always ${side} ${bound}, so the stage ends after ${until.window} ${until.window === 1 ? "value" : "values"}`;
  model.report({
    rule: untilRange.id,
    severity: "warning",
    message: `${lies} and ${then}.`,
    key: `${view.path}.${place.join(".")}.${side}`,
    at,
    fileFixes: [boundFix(model, ["stages", view.config.name, ...place, side], side, bound, range)],
  });
}

/** A percentage is written as a fraction; another bound goes a tenth of the range inside. */
function boundFix(
  { edits }: ConfigModel,
  path: readonly string[],
  side: Side,
  bound: number,
  [least, most]: ValueRange,
): Fix | undefined {
  if (least === 0 && most === 1 && bound > 1 && bound < 100)
    return edits.set(path, rounded(bound / 100), `Change to ${rounded(bound / 100)} (= ${bound} / 100)`);
  if (!Number.isFinite(most - least) || most <= least) return undefined;
  const inside = side === "above" ? most - 0.1 * (most - least) : least + 0.1 * (most - least);
  const how =
    side === "above" ? `${rounded(most)} − a tenth of the range` : `${rounded(least)} + a tenth of the range`;
  return edits.set(path, rounded(inside), `Change to ${rounded(inside)} (= ${how})`, false);
}

const rounded = (value: number): string => String(Number(value.toPrecision(6)));
