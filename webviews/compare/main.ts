/** The page that compares runs: what differs, how they went, how sure that is. */
import "uplot/dist/uPlot.min.css";
import "../run/run.css";
import "../shared/chart.css";
import "./compare.css";
import {
  compareVersion,
  readCompareState,
  type CompareState,
  type FromCompare,
  type TaskPair,
  type ToCompare,
} from "../../shared/editor/comparePanel.ts";
import { plural } from "../../shared/lib/format.ts";
import type { Comparison } from "../../shared/run/comparison.ts";
import { Chart } from "../shared/chart.ts";
import { button, element, setShown, setText } from "../shared/dom.ts";
import { connect, type Host } from "../shared/messaging.ts";
import { onThemeChange, readTheme } from "../shared/theme.ts";
import { chartOf, lastCommon, ledBy, type DifferenceRow } from "./models.ts";
import { BoundarySection } from "./boundary.ts";
import { leadingGroups } from "./leading.ts";
import { groupsSection, notesSection } from "./groups.ts";
import { armsSection, differencesSection, heldOutSection, tasksSection } from "./sections.ts";

class ComparePanel {
  #found: Comparison | null = null;
  #pairs: readonly TaskPair[] | undefined;
  #other = 1;
  #cursor: number | null = null;
  #range: readonly [number, number] | null = null;
  readonly #tables: Set<string>;
  readonly #charts = new Map<string, Chart>();
  readonly #title = element("h1", {}, "Comparing runs");
  readonly #waiting = element("p", { class: "waiting", role: "status" }, "Reading the runs…");
  readonly #top = element("div", { class: "top" });
  #smooth = true;
  readonly #smoothing = button("Show Every Step", { class: "quiet edge", "aria-pressed": "false" }, () =>
    this.#toggle(),
  );
  readonly #grid = element("main", { class: "charts" });
  readonly #below = element("div", { class: "below" });
  readonly #boundary = new BoundarySection({
    asked: (own, other) => this.#post({ type: "boundary", own, other }),
    opened: (key) => this.#post({ type: "diffTask", other: this.#other, key }),
  });
  readonly #tasks = element("div", {});
  readonly #host: Host<FromCompare, CompareState>;

  constructor(root: HTMLElement) {
    this.#host = connect<ToCompare, FromCompare, CompareState>(compareVersion, (message) =>
      this.#receive(message),
    );
    const left = readCompareState(this.#host.left);
    this.#tables = new Set(left?.tables ?? []);
    this.#other = left?.other ?? 0;
    setShown(this.#smoothing, false);
    const parts = [this.#title, this.#waiting, this.#top, this.#boundary.root, this.#smoothing, this.#grid];
    root.append(...parts, this.#below, this.#tasks);
    onThemeChange(() => {
      for (const chart of this.#charts.values()) chart.setTheme(readTheme());
      this.#boundary.setTheme(readTheme());
      if (this.#found !== null) this.#drawTop(this.#found);
    });
    this.#post({ type: "ready" });
  }

  #post(message: DistributiveOmit<FromCompare, "version">): void {
    this.#host.post({ version: compareVersion, ...message });
  }

  #receive(message: ToCompare): void {
    switch (message.type) {
      case "comparison":
        this.#found = message.comparison;
        return this.#draw(message.comparison);
      case "tasks":
        if (message.other !== this.#other) return;
        this.#pairs = message.pairs;
        this.#boundary.setPairs(message.pairs);
        return this.#drawTasks();
      case "boundary":
        return this.#boundary.answered(message);
      case "failed":
        setShown(this.#waiting, true);
        return setText(this.#waiting, message.message);
    }
  }

  #draw(found: Comparison): void {
    setShown(this.#waiting, false);
    setText(
      this.#title,
      `Comparing ${plural(found.runs.length, "run")} in ${plural(found.groups.length, "group")}`,
    );
    if (this.#other < 1 || this.#other >= found.groups.length) this.#other = leadingGroups(found)[1] ?? 1;
    this.#drawTop(found);
    this.#cursor ??= lastCommon(found);
    setShown(this.#smoothing, found.series.length > 0);
    this.#drawCharts(found);
    this.#below.replaceChildren(armsSection(found));
    this.#drawTasks();
    this.#boundary.update(found, this.#other);
    if (found.groups.length > 1 && this.#pairs === undefined)
      this.#post({ type: "tasks", other: this.#other });
    this.#keep();
  }

  #drawTop(found: Comparison): void {
    this.#top.replaceChildren(
      groupsSection(found, readTheme(), {
        openRun: (run) => this.#post({ type: "openRun", run }),
        lead: (group) => this.#post({ type: "order", runs: ledBy(found, group) }),
      }),
      notesSection(found),
      heldOutSection(found),
      differencesSection(found, {
        diff: (row) => this.#diff(row),
        diffConfigs: (runs, resolved) => this.#post({ type: "diffConfigs", runs, resolved }),
      }),
    );
  }

  /** Means of some steps each, in which several noisy lines can be told apart; or every step. */
  #toggle(): void {
    this.#smooth = !this.#smooth;
    this.#smoothing.setAttribute("aria-pressed", String(!this.#smooth));
    this.#post({ type: "smooth", smooth: this.#smooth });
  }

  #diff({ kind, name, about, runs }: DifferenceRow): void {
    if (kind === "config") return this.#post({ type: "diffConfigs", runs, resolved: true });
    if (about === "reward") return this.#post({ type: "diffSource", runs, path: name });
  }

  /** A chart stays as it is scrolled and zoomed; one whose metric has gone goes. */
  #drawCharts(found: Comparison): void {
    const wanted = new Set(found.series.map(({ metric }) => metric));
    for (const [metric, chart] of this.#charts)
      if (!wanted.has(metric)) {
        chart.root.remove();
        this.#charts.delete(metric);
      }
    for (const series of found.series) {
      const chart = this.#charts.get(series.metric) ?? this.#makeChart(series.metric);
      this.#grid.append(chart.root);
      chart.update(chartOf(found, series), [], this.#range);
      chart.setCursor(this.#cursor);
    }
  }

  #makeChart(metric: string): Chart {
    const id = `chart-${metric.replaceAll(/[^\w-]/g, "-")}`;
    const all = (act: (chart: Chart) => void): void => this.#charts.forEach(act);
    const point = (step: number | null): void => {
      this.#cursor = step;
      all((one) => one.setCursor(step));
    };
    const chart = new Chart(
      { id, title: metric, theme: readTheme() },
      {
        pointed: point,
        pinned: point,
        zoomed: (range) => {
          this.#range = range;
          if (this.#found !== null) this.#drawCharts(this.#found);
        },
        tabled: (visible) => {
          if (visible) this.#tables.add(id);
          else this.#tables.delete(id);
          this.#keep();
        },
      },
    );
    if (this.#tables.has(id)) chart.showTable(true);
    chart.setOver("over the runs of each group");
    this.#charts.set(metric, chart);
    chart.setCursor(this.#cursor);
    return chart;
  }

  #drawTasks(): void {
    if (this.#found === null) return;
    this.#tasks.replaceChildren(
      tasksSection(this.#found, this.#other, this.#pairs, {
        choose: (other) => {
          [this.#other, this.#pairs] = [other, undefined];
          this.#post({ type: "tasks", other });
          this.#drawTasks();
          if (this.#found !== null) this.#boundary.update(this.#found, other);
          this.#keep();
        },
        open: (key) => this.#post({ type: "diffTask", other: this.#other, key }),
      }),
    );
  }

  #keep(): void {
    const runs = this.#found?.runs.map(({ id }) => id) ?? readCompareState(this.#host.left)?.runs ?? [];
    this.#host.keep({ runs, tables: [...this.#tables], other: this.#other });
  }
}

type DistributiveOmit<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never;

new ComparePanel(document.getElementById("root")!);
