/** Where two runs are going, next to each other. */
import { formatFraction, formatNumber } from "../../shared/lib/format.ts";
import type { PanelForecasts } from "../../shared/editor/comparePanel.ts";
import { banded, type CourseReport } from "../../shared/run/forecastReport.ts";
import type { Band } from "../../shared/run/forecast.ts";
import { element } from "../shared/dom.ts";

const plain = ({ low, middle, high }: Band, digits: number): string =>
  `${middle.toFixed(digits)} [${low.toFixed(digits)}, ${high.toFixed(digits)}]`;

const rows: readonly (readonly [name: string, of: (report: CourseReport) => string])[] = [
  ["at its last value", ({ now, metric }) => banded(now, metric)],
  ["ends at", ({ asymptote, metric }) => banded(asymptote, metric)],
  ["half way at step", ({ midpoint }) => plain(midpoint, 0)],
  ["efficiency B", ({ efficiency }) => plain(efficiency, 1)],
];

/** @param names of the two, in their order; undefined: not both have one */
export function forecastTable(
  found: PanelForecasts | undefined,
  names: readonly [string, string],
): HTMLElement | undefined {
  const reports = found?.forecasts.filter((one) => one !== null) ?? [];
  const [first] = reports;
  if (first === undefined || reports.length < 2) return undefined;
  const higher = found?.firstEndsHigher[1] ?? null;
  const head = [first.metric, ...names].map((name) => element("th", { scope: "col" }, name));
  const body = rows.map(([name, of]) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, name),
      ...reports.map((report) => element("td", {}, of(report))),
    ),
  );
  return element(
    "div",
    { class: "forecasts" },
    element("h3", {}, "Where they are going"),
    element(
      "div",
      { class: "wrap", tabindex: 0, role: "region", "aria-label": "Forecasts, table" },
      element(
        "table",
        { class: "arms" },
        element("thead", {}, element("tr", {}, ...head)),
        element("tbody", {}, ...body),
      ),
    ),
    element(
      "p",
      { class: "muted" },
      `${higher === null ? "" : `${names[0]} ends higher with probability ${formatFraction(higher)}. `}A sigmoid of the steps, fitted to ${formatNumber(first.values)} and ${formatNumber(reports[1]!.values)} values; in brackets the 80 % band.`,
    ),
  );
}
