/** From a run's series to the charts of what its reward is made of: pure. */
import { align } from "../../shared/columns.ts";
import { constantOf, type ChartModel } from "../../shared/chartModel.ts";
import { charted, lineOf, type RunView } from "../models.ts";

/** Lines of a chart, at most. */
const mostTerms = 12;

/** `reward/<term>`, but neither the total nor what is counted of a term. */
const termOf = (metric: string): string | undefined => /^reward\/(?!total$)([^/]+)$/.exec(metric)?.[1];
const termsOf = ({ series }: RunView): readonly string[] =>
  series.names.flatMap((name) => termOf(name) ?? []).slice(0, mostTerms);

/** The mean of each term, and the weight that acts on it. */
export function termsModel(view: RunView): ChartModel {
  const terms = termsOf(view);
  const aligned = align([
    ...terms.map((term) => view.series.column(`reward/${term}`)),
    ...terms.map((term) => view.series.column(`reward/${term}/weight`)),
  ]);
  const lines = terms.map((name, i) => {
    const own = lineOf({ name, tone: i, dash: i, format: "number" }, aligned, i);
    const factor = aligned.values[terms.length + i];
    return factor === undefined ? own : { ...own, factor };
  });
  return charted(view, "reward term", aligned, lines);
}

/** How the weights change, if any does: constant ones are shown next to their terms. */
export function weightsModel(view: RunView): ChartModel {
  const terms = termsOf(view);
  const aligned = align(terms.map((term) => view.series.column(`reward/${term}/weight`)));
  const lines = terms.map((name, i) => lineOf({ name, tone: i, dash: i, format: "number" }, aligned, i));
  const moving = lines.some((line) => constantOf(line) === undefined);
  return charted(view, "weight", aligned, moving ? lines : []);
}
