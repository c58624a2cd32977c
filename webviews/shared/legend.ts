/** What the lines of a chart are, with their values at the cursor. */
import { saidLines, saidUpTo, type ChartLine, type ChartModel } from "./chartModel.ts";
import { element } from "./dom.ts";
import { swatch } from "./swatch.ts";
import type { Theme } from "./theme.ts";
import { formatCount } from "../../shared/lib/format.ts";

export function legendEntries(model: ChartModel, index: number, theme: Theme): readonly HTMLElement[] {
  const said = saidLines(model);
  const aside = model.lines.length - said.length;
  const others =
    aside === 0
      ? []
      : [
          element(
            "li",
            { class: "muted" },
            swatch({ tone: "faint", dash: 0, style: "line" }, theme),
            `${formatCount(aside)} others`,
          ),
        ];
  return [...said.map((line) => entry(line, index, theme)), ...others];
}

function entry(line: ChartLine, index: number, theme: Theme): HTMLElement {
  const band =
    line.band === undefined || line.style === "points" || line.band.name === ""
      ? []
      : [element("span", { class: "muted" }, line.band.name)];
  return element(
    "li",
    {},
    swatch(line, theme),
    element("span", {}, line.name),
    element("b", {}, saidUpTo(line, index)),
    ...band,
  );
}
