/** What the labels say of the judge: a sentence, intervals as bars, the other sentences, and where the two disagree. */
import type { Disagreement, Estimate, JudgeReport } from "../../shared/rollouts/judgeReport.ts";
import { judgeHeadline, judgeLines } from "../../shared/rollouts/judgeText.ts";
import { button, element, withCode } from "../shared/dom.ts";

export interface ReportActions {
  readonly ask: () => void;
  readonly threshold: (threshold: number) => void;
  readonly more: () => void;
  readonly openLabels: () => void;
  readonly openRollout: (which: Disagreement) => void;
}

export function reportView(report: JudgeReport, actions: ReportActions): HTMLElement {
  return element(
    "section",
    { class: "report", "aria-labelledby": "headline" },
    element("h2", { id: "headline", tabindex: -1 }, ...withCode(judgeHeadline(report))),
    ...barsOf(report),
    element(
      "ul",
      { class: "sentences" },
      ...judgeLines(report).map(({ about, text }) =>
        element("li", { "data-about": about }, ...withCode(text)),
      ),
    ),
    element(
      "div",
      { class: "actions" },
      button("Ask the Judge Again", { class: "primary" }, actions.ask),
      button("Label 20 More", {}, actions.more),
      button("Open Labels", {}, actions.openLabels),
      thresholdInput(report, actions),
    ),
    ...disagreementsOf(report, actions),
  );
}

/** A share from 0 to 1 with its interval, and where a coin would be. */
interface Bar {
  readonly name: string;
  readonly share: Estimate;
  readonly coin?: number;
}

function barsOf({ agreement, chance, passed, failed, auroc }: JudgeReport): readonly HTMLElement[] {
  const bars = [
    ...bar("agreement", agreement, chance),
    ...bar("passes that are good", passed.good),
    ...bar("fails that are good", failed.good),
    ...bar("AUROC", auroc, 0.5),
  ];
  if (bars.length === 0) return [];
  const caption = "Point: the share. Bar: its 95 % interval. Line: a coin.";
  return [
    // The sentences below say the same.
    element("div", { class: "bars", "aria-hidden": "true" }, ...bars.map(barRow)),
    element("p", { class: "muted caption", "aria-hidden": "true" }, caption),
  ];
}

const bar = (name: string, share: Estimate | null, coin: number | null = null): readonly Bar[] =>
  share === null ? [] : [{ name, share, ...(coin !== null && { coin }) }];

function barRow({ name, share: { value, low, high }, coin }: Bar): HTMLElement {
  const interval = element("span", { class: "interval" });
  interval.style.left = `${low * 100}%`;
  interval.style.width = `${(high - low) * 100}%`;
  const point = element("span", { class: "point" });
  point.style.left = `${value * 100}%`;
  const track = element("span", { class: "track" }, interval, point);
  if (coin !== undefined) {
    const line = element("span", { class: "coin" });
    line.style.left = `${coin * 100}%`;
    track.append(line);
  }
  return element(
    "div",
    {},
    element("span", { class: "name" }, name),
    track,
    element("span", { class: "number" }, `${Math.round(value * 100)} %`),
  );
}

function disagreementsOf({ disagreements }: JudgeReport, actions: ReportActions): readonly HTMLElement[] {
  if (disagreements.length === 0) return [];
  const rows = disagreements.map((one) =>
    element(
      "li",
      {},
      button(`step ${one.step}, rollout ${one.index} of ${one.group}`, { class: "link" }, () =>
        actions.openRollout(one),
      ),
      `: score ${String(Number(one.score.toPrecision(4))).replace("-", "−")}, labelled ${one.good ? "good" : "bad"}`,
    ),
  );
  return [
    element("h3", { id: "apart" }, "Where you disagree, the surest scores first"),
    element("ul", { class: "apart", "aria-labelledby": "apart" }, ...rows),
  ];
}

function thresholdInput({ threshold }: JudgeReport, actions: ReportActions): HTMLElement {
  const input = element("input", { type: "number" });
  input.step = "any";
  input.value = String(Number(threshold.toPrecision(4)));
  input.addEventListener("change", () => {
    if (Number.isFinite(input.valueAsNumber)) actions.threshold(input.valueAsNumber);
  });
  return element("label", { class: "threshold" }, "passes from ", input);
}
