/** A chart's values as a table, newest first. */
import { tableRows, type ChartModel } from "./chartModel.ts";
import { element } from "./dom.ts";

const mostRows = 400;

/** The table, and under it what it leaves out. */
export function tableOf(model: ChartModel): readonly HTMLElement[] {
  const head = [model.counted ?? "step", ...model.lines.map((line) => line.name)].map((name) =>
    element("th", { scope: "col" }, name),
  );
  const rows = tableRows(model, mostRows).map(([step, ...cells]) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, step ?? ""),
      ...cells.map((cell) => element("td", {}, cell)),
    ),
  );
  const hidden = model.steps.length - rows.length;
  return [
    element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)),
    ...(hidden > 0
      ? [element("p", { class: "muted" }, `${hidden} earlier steps are not listed; zoom in to see them.`)]
      : []),
  ];
}
