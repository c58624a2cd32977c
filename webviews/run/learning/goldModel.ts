/** What the trained reward and the terms of `reward.gold` make of the same held-out answers. Pure. */
import type { ChartModel } from "../../shared/chartModel.ts";
import { align } from "../../shared/columns.ts";
import { charted, evaluationColumn, lineOf, type RunView } from "../models.ts";

/** Terms that held-out answers alone are scored by. */
function goldOf({ series, evaluations }: RunView): readonly string[] {
  const trained = new Set(series.names);
  // Before the first rewarded step nobody knows which terms train.
  if (!trained.has("reward/total")) return [];
  const names = new Set(evaluations.flatMap(({ metrics }) => Object.keys(metrics)));
  return [...names]
    .flatMap((name) => /^eval\/reward\/(?!total$)([^/]+)$/.exec(name)?.[1] ?? [])
    .filter((term) => !trained.has(`reward/${term}`));
}

/** A reward that rises while gold falls is pleased and not earned. */
export function goldModel(view: RunView): ChartModel {
  const gold = goldOf(view);
  const names = gold.length === 0 ? [] : ["total", ...gold];
  const aligned = align(names.map((name) => evaluationColumn(view.evaluations, `eval/reward/${name}`)));
  const lines = names.map((name, i) =>
    lineOf(
      {
        name: i === 0 ? "reward" : name,
        tone: i === 0 ? "plain" : i + 1,
        dash: i,
        format: "number",
        style: "points",
      },
      aligned,
      i,
    ),
  );
  return charted(view, "gold terms", aligned, lines);
}
