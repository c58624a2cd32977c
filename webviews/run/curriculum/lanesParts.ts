/** What surrounds the curriculum's lanes: names, words, legend, table. */
import type { CurriculumLane, CurriculumOverview } from "../../../shared/protocol/protocol.ts";
import type { LanesPath } from "../../../shared/editor/runPanel.ts";
import { formatCount, formatFraction, plural } from "../../../shared/lib/format.ts";
import { button, element } from "../../shared/dom.ts";
import type { Theme } from "../../shared/theme.ts";
import { anyMade, describeOrigin, laneRows, rateOf } from "./lanesModel.ts";
import { shade } from "./lanesPlot.ts";

const headings = [
  "groups",
  "right",
  "trained",
  "all wrong",
  "all right",
  "tokens",
  "of these gave no signal",
];
const originHeadings = ["made from", "made by", "at step", "solved when tried"];
const several = { arm: "arms", family: "families", task: "tasks" } as const;

export function tableOf(overview: CurriculumOverview): HTMLElement {
  const head = [overview.by, ...headings, ...(anyMade(overview) ? originHeadings : [])].map((name) =>
    element("th", { scope: "col" }, name),
  );
  const body = laneRows(overview).map(([name = "", ...cells]) =>
    element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((cell) => element("td", {}, cell))),
  );
  return element(
    "table",
    {},
    element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...body),
  );
}

/** A lane's name, where it was made from what, and its pass rate; a button where it leads further. */
export function labelOf(lane: CurriculumLane, name: string, open: (() => void) | null): HTMLElement {
  const rate = formatFraction(rateOf(lane));
  const { made } = lane;
  const origin = made === undefined ? [] : [`${made.author} ‹ ${made.parents.join(", ")}`];
  const parts = [
    element("span", { class: "name" }, name),
    ...origin.map((text) => element("span", { class: "origin" }, text)),
    element("b", {}, rate),
  ];
  const came = made === undefined ? "" : `, ${describeOrigin(made)}`;
  const title = `${lane.name}: ${rate} right, ${plural(lane.groups, "group")}${came}`;
  if (open === null) return element("div", { class: "label", title }, ...parts);
  const label = button("", { class: "label quiet", title: `${title}. Show what it contains` }, open);
  label.replaceChildren(...parts);
  return label;
}

export function statusOf({ by, arm, family, lanes, more, width }: CurriculumOverview): string {
  const parts = [
    ...(arm !== null ? [`Tasks of ${arm}`] : family !== null ? [`Arms of ${family}`] : []),
    ...(lanes.length === 0 ? ["no groups in these steps"] : []),
    ...(width > 1 ? [`${plural(width, "step")} per cell`] : []),
    ...(more > 0
      ? [
          more === 1
            ? `one ${by} drawn less often is not shown`
            : `${formatCount(more)} ${several[by]} drawn less often are not shown`,
        ]
      : []),
  ];
  return parts.join("  ·  ");
}

/** Where the way up leads. */
export const backLabel = ({ family, arm }: LanesPath): string =>
  arm === null ? "‹ All Families" : family === null ? "‹ All Arms" : `‹ ${family}`;

/** The shades as they are drawn, and the edges, which mean none and all. */
export function legendOf(theme: Theme): readonly HTMLElement[] {
  const entry = (text: string, rate: number, tone?: "good" | "bad"): HTMLElement => {
    const swatch = element("span", { class: "shade", "aria-hidden": "true" });
    swatch.style.setProperty("--shade", theme.palette[0] ?? theme.foreground);
    swatch.style.setProperty("--rate", `${Math.round(shade(rate) * 100)}%`);
    if (tone !== undefined) {
      swatch.dataset["edge"] = tone;
      swatch.style.setProperty("--edge", theme[tone]);
    }
    return element("li", {}, swatch, element("span", {}, text));
  };
  return [entry("all wrong", 0, "bad"), entry("half right", 0.5), entry("all right", 1, "good")];
}
