/** The groups of the page that compares runs, and what limits the comparison. */
import type { Comparison } from "../../shared/run/comparison.ts";
import { groupLetter, groupText } from "../../shared/run/comparisonText.ts";
import { button, element } from "../shared/dom.ts";
import { swatch } from "../shared/swatch.ts";
import type { Theme } from "../shared/theme.ts";
import { folded, listed } from "../shared/folded.ts";
import { groupOrder, leadingGroups, styleOf } from "./leading.ts";

export interface GroupActions {
  readonly openRun: (id: string) => void;
  readonly lead: (group: number) => void;
}
const [mostGroups, mostRuns] = [12, 3];

/** In the order of their letters; of many those first that charts tell apart. */
export function groupsSection(found: Comparison, theme: Theme, actions: GroupActions): HTMLElement {
  const leading = leadingGroups(found);
  const order = groupOrder(found);
  const rows = order.map((at) => groupRow(found, at, leading, theme, actions));
  const most = leading.length < order.length ? leading.length : mostGroups;
  return element(
    "div",
    {},
    element(
      "ul",
      { class: "groups", "aria-label": "Groups" },
      ...listed(folded("groups", rows, most, (left) => `Show ${left} More Groups`)),
    ),
    ...(leading.length < order.length
      ? [
          element(
            "p",
            { class: "muted" },
            `Colours tell the first group and the best ${leading.length - 1} apart; the others are grey.`,
          ),
        ]
      : []),
  );
}

function groupRow(
  found: Comparison,
  at: number,
  leading: readonly number[],
  theme: Theme,
  { openRun, lead }: GroupActions,
): HTMLElement {
  const group = found.groups[at]!;
  const style = styleOf(leading, at) ?? ({ tone: "faint", dash: 0 } as const);
  const runs = group.runs.map((run) => {
    const { id } = found.runs[run]!;
    return button(id, { class: "quiet link", title: "Open Run" }, () => openRun(id));
  });
  return element(
    "li",
    {},
    element("span", { class: "letter" }, swatch({ ...style, style: "line" }, theme), groupLetter(at)),
    element("b", {}, group.label),
    element("span", { class: "muted" }, groupText(group, found.runs)),
    element("span", { class: "runs" }, ...folded(`runs of ${at}`, runs, mostRuns)),
    at === 0
      ? element("span", { class: "muted" }, "the others are compared with it")
      : button("Compare Others with This", { class: "quiet edge" }, () => lead(at)),
  );
}

/** What limits the comparison. */
export const notesSection = ({ notes }: Comparison): HTMLElement =>
  element(
    "ul",
    { class: "limits", "aria-label": "What limits the comparison" },
    ...notes.map((note) => element("li", {}, note)),
  );
