/** What the models of two recorded evaluations can do within their samples: curves, their crossing, and which tasks differ. */
import type { TaskPair, ToCompare, WantedEvaluation } from "../../shared/editor/comparePanel.ts";
import type { Comparison } from "../../shared/run/comparison.ts";
import {
  crossingSentence,
  greedySentence,
  solvedSentence,
  type BoundaryReport,
  type EvaluatedAt,
} from "../../shared/run/boundaryReport.ts";
import { groupLetter } from "../../shared/run/comparisonText.ts";
import { Chart } from "../shared/chart.ts";
import { button, element, setShown } from "../shared/dom.ts";
import { folded, listed } from "../shared/folded.ts";
import { readTheme, type Theme } from "../shared/theme.ts";
import {
  boundaryModel,
  bySamples,
  crossingMarks,
  taskLists,
  type Sides,
  type TaskList,
} from "./boundaryModel.ts";
import { forecastTable } from "./forecasts.ts";
import { formatCount } from "../../shared/lib/format.ts";

interface BoundaryEvents {
  readonly asked: (own: WantedEvaluation, other: WantedEvaluation) => void;
  /** An answer of the group that is compared, by its key. */
  readonly opened: (key: string) => void;
}
type Answer = Extract<ToCompare, { type: "boundary" }>;

/** Tasks of a list at first, and at the most. */
const [mostShown, mostTasks] = [12, 200];

export class BoundarySection {
  readonly root = element("section", { class: "part boundary", "aria-labelledby": "boundary" });
  readonly #body = element("div", {});
  readonly #chart: Chart;
  #found: Comparison | null = null;
  #runs: readonly [other: string, own: string] | null = null;
  #asked = "";
  #answer: Answer | null = null;
  #pairs: readonly TaskPair[] = [];
  #opened: TaskList["id"] | null = null;

  constructor(private readonly events: BoundaryEvents) {
    this.#chart = new Chart(
      { id: "boundary-chart", title: "pass@k", theme: readTheme() },
      {
        pointed: (k) => this.#chart.setCursor(k),
        pinned: (k) => this.#chart.setCursor(k),
        zoomed: () => undefined,
        tabled: () => undefined,
      },
    );
    this.#chart.setOver("over the tasks that both answered");
    this.root.append(
      element("h2", { id: "boundary" }, "What each can do within its samples"),
      this.#body,
      this.#chart.root,
    );
    setShown(this.#chart.root, false);
    setShown(this.root, false);
  }

  /** The first runs of the first group and of another: their last evaluations, until a person chooses. */
  update(found: Comparison, other: number): void {
    this.#found = found;
    const [base, own] = [0, other].map((group) => found.runs[found.groups[group]?.runs[0] ?? -1]);
    setShown(this.root, base !== undefined && own !== undefined && own !== base);
    if (base === undefined || own === undefined || own === base) return;
    const runs = [base.id, own.id] as const;
    const signature = JSON.stringify([runs, base.step, own.step]);
    if (signature === this.#asked) return this.#draw();
    const before = this.#runs;
    [this.#asked, this.#runs] = [signature, runs];
    // Where a person has chosen evaluations, a run that goes on does not change them.
    const same = before?.[0] === runs[0] && before[1] === runs[1];
    if (!same) this.#answer = null;
    if (this.#answer === null) this.events.asked({ run: runs[1] }, { run: runs[0] });
    this.#draw();
  }

  answered(answer: Answer): void {
    // A choice of evaluations does not ask again where the runs are going.
    const { forecasts = this.#answer?.forecasts } = answer;
    this.#answer = { ...answer, ...(forecasts && { forecasts }) };
    this.#draw();
  }
  setPairs(pairs: readonly TaskPair[]): void {
    this.#pairs = pairs;
    this.#draw();
  }
  setTheme(theme: Theme): void {
    this.#chart.setTheme(theme);
  }

  #letterOf(run: string): string {
    return groupLetter(this.#found?.runs.find(({ id }) => id === run)?.group ?? 0);
  }
  #nameOf({ run, step }: EvaluatedAt): string {
    return `${this.#letterOf(run)} at step ${formatCount(step)}`;
  }

  #draw(): void {
    const report = this.#answer?.report ?? null;
    setShown(this.#chart.root, report?.boundary != null);
    if (report === null) {
      const text = this.#answer === null ? "Reading evaluations…" : (this.#answer.reason ?? "");
      return this.#body.replaceChildren(element("p", { class: "muted", role: "status" }, text));
    }
    const sides = { own: this.#nameOf(report.own), other: this.#nameOf(report.other) };
    this.#body.replaceChildren(
      this.#choices(report),
      ...sentences(report, sides),
      ...this.#lists(report, sides),
    );
    const table = forecastTable(this.#answer?.forecasts, [
      this.#letterOf(this.#runs?.[0] ?? ""),
      this.#letterOf(this.#runs?.[1] ?? ""),
    ]);
    this.root.querySelector(".forecasts")?.remove();
    if (table !== undefined) this.root.append(table);
    const { boundary } = report;
    if (boundary !== null)
      this.#chart.update(
        boundaryModel(boundary, sides),
        crossingMarks(boundary),
        [1, boundary.samples],
        bySamples,
      );
  }

  /** Any two evaluations of the two runs, also of the same. */
  #choices({ evaluations, own, other }: BoundaryReport): HTMLElement {
    const keyOf = ({ run, step }: EvaluatedAt): string => `${run} ${step}`;
    const choice = (label: string, chosen: EvaluatedAt): HTMLElement => {
      const select = element(
        "select",
        { "aria-label": label },
        ...evaluations.map((one) => {
          const option = element("option", {}, this.#nameOf(one));
          option.value = keyOf(one);
          option.selected = keyOf(one) === keyOf(chosen);
          return option;
        }),
      );
      select.addEventListener("change", () => {
        const picked = evaluations.find((one) => keyOf(one) === select.value) ?? chosen;
        if (chosen === own) this.events.asked(picked, other);
        else this.events.asked(own, picked);
      });
      return select;
    };
    return element(
      "p",
      { class: "evaluations" },
      choice("Evaluation that is compared", own),
      element("span", {}, "against"),
      choice("Evaluation that it is compared with", other),
    );
  }

  #lists(report: BoundaryReport, sides: Sides): readonly HTMLElement[] {
    const lists = taskLists(report, sides);
    const opened = lists.find(({ id }) => id === this.#opened);
    const buttons = lists.map(({ id, label, why, tasks }) => {
      const made = button(
        `${label} ${tasks.length}`,
        { class: "quiet edge", title: why, "aria-expanded": String(id === this.#opened) },
        () => {
          this.#opened = id === this.#opened ? null : id;
          this.#draw();
          this.root.querySelector<HTMLElement>(`[data-list="${id}"]`)?.focus();
        },
      );
      made.dataset["list"] = id;
      made.disabled = tasks.length === 0;
      return made;
    });
    return [
      element("p", { class: "actions" }, ...buttons),
      ...(opened === undefined ? [] : [this.#tasks(opened)]),
    ];
  }

  #tasks({ id, why, tasks }: TaskList): HTMLElement {
    const keys = new Map(this.#pairs.map(({ key, prompt }) => [key.replace(/#\d+$/, ""), { key, prompt }]));
    const items = tasks.slice(0, mostTasks).map((task) => {
      const pair = keys.get(task);
      return element(
        "li",
        {},
        pair === undefined
          ? element("code", {}, task)
          : button(pair.prompt.trim(), { class: "quiet link", title: task }, () =>
              this.events.opened(pair.key),
            ),
      );
    });
    const rest = tasks.length > mostTasks ? [element("li", {}, `${tasks.length - mostTasks} more`)] : [];
    return element(
      "div",
      { class: "task-list" },
      element("p", { class: "muted" }, `${why.charAt(0).toUpperCase()}${why.slice(1)}:`),
      element(
        "ul",
        { "aria-label": why },
        ...listed(folded(`boundary ${id}`, [...items, ...rest], mostShown)),
      ),
    );
  }
}

function sentences(report: BoundaryReport, sides: Sides): readonly HTMLElement[] {
  const { boundary, greedy } = report;
  const said =
    boundary === null
      ? ["They have no task in common that both answered at least twice."]
      : [solvedSentence(boundary, sides), crossingSentence(boundary, sides)];
  return [...said, ...(greedy === null ? [] : [greedySentence(greedy, sides)])].map((text) =>
    element("p", {}, text),
  );
}
