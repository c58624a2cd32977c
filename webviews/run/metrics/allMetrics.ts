/** Every metric that the run has recorded, to search; each that is chosen gets a chart, and the others cost nothing. */
import { metricNamed } from "../../../shared/metrics/metrics.ts";
import { formatCount, plural } from "../../../shared/lib/format.ts";
import { Chart } from "../../shared/chart.ts";
import type { ChartModel, Format } from "../../shared/chartModel.ts";
import { align } from "../../shared/columns.ts";
import { button, element, setShown, setText } from "../../shared/dom.ts";
import type { Theme } from "../../shared/theme.ts";
import type { XAxis } from "../../shared/xAxis.ts";
import { charted, lineOf, type RunView } from "../models.ts";
import type { Scale } from "../timeline/scale.ts";
import { found } from "./search.ts";

interface MetricsEvents {
  /** The list is opened: its names are wanted. */
  readonly asked: () => void;
  /** These metrics have charts: what they lack is wanted. */
  readonly chosen: (metrics: readonly string[]) => void;
  readonly chart: (id: string) => ConstructorParameters<typeof Chart>[1];
}

/** Rows that are made at a time: more come as the list is scrolled. */
const rowsAtOnce = 60;

export class AllMetrics {
  readonly root = element("section", { class: "all-metrics", "aria-label": "All metrics" });
  readonly #toggle = button("All Metrics", { class: "quiet edge", "aria-expanded": "false" }, () =>
    this.#open(),
  );
  readonly #search = element("input", {
    type: "search",
    class: "search",
    "aria-label": "Search metrics",
  });
  readonly #count = element("span", { class: "muted", role: "status" });
  readonly #list = element("ul", { class: "metric-list", tabindex: 0, "aria-label": "Metrics" });
  readonly #charts = element("div", { class: "metric-charts" });
  readonly #body: HTMLElement;
  readonly #drawn = new Map<string, Chart>();
  #names: readonly string[] = [];
  #found: readonly string[] = [];
  #rows = 0;
  #draw: () => void = () => undefined;

  constructor(
    private readonly events: MetricsEvents,
    private theme: Theme,
  ) {
    this.#search.placeholder = "Search, e.g. kl or reward errors";
    this.#body = element(
      "div",
      { class: "metric-body" },
      element("div", { class: "metric-search" }, this.#search, this.#count),
      this.#list,
      this.#charts,
    );
    this.root.append(this.#toggle, this.#body);
    setShown(this.#body, false);
    this.#search.addEventListener("input", () => this.#filter());
    this.#list.addEventListener("scroll", () => {
      const { scrollTop, clientHeight, scrollHeight } = this.#list;
      if (scrollTop + clientHeight > scrollHeight - 200) this.#moreRows();
    });
  }

  get chosen(): readonly string[] {
    return [...this.#drawn.keys()];
  }
  get charts(): readonly Chart[] {
    return [...this.#drawn.values()];
  }

  list(names: readonly string[]): void {
    this.#names = names;
    this.#filter();
  }

  update(view: RunView, range: readonly [number, number], x: XAxis, scale: Scale): void {
    const marks = view.run.stages.map(({ step, name }) => ({ step, name }));
    this.#draw = () => {
      for (const [metric, chart] of this.#drawn)
        chart.update(scale.apply(modelOf(view, metric)), marks, range, x);
    };
    this.#draw();
  }
  setCursor(step: number | null): void {
    for (const chart of this.#drawn.values()) chart.setCursor(step);
  }
  setTheme(theme: Theme): void {
    this.theme = theme;
    for (const chart of this.#drawn.values()) chart.setTheme(theme);
  }

  #open(): void {
    const open = this.#body.hidden !== false;
    setShown(this.#body, open);
    this.#toggle.setAttribute("aria-expanded", String(open));
    if (!open) return;
    setText(this.#count, "Loading…");
    this.events.asked();
    this.#search.focus();
  }

  #filter(): void {
    this.#found = found(this.#names, this.#search.value);
    this.#rows = 0;
    this.#list.replaceChildren();
    this.#list.scrollTop = 0;
    const of = this.#found.length === this.#names.length ? "" : ` of ${formatCount(this.#names.length)}`;
    setText(this.#count, `${plural(this.#found.length, "metric")}${of}`);
    this.#moreRows();
  }

  #moreRows(): void {
    const rows = this.#found.slice(this.#rows, this.#rows + rowsAtOnce).map((name) => this.#row(name));
    this.#rows += rows.length;
    this.#list.append(...rows);
  }

  #row(name: string): HTMLElement {
    const row = button(
      "",
      { class: "metric", "data-metric": name, "aria-pressed": String(this.#drawn.has(name)) },
      () => {
        if (!this.#drawn.delete(name)) this.#chart(name);
        row.setAttribute("aria-pressed", String(this.#drawn.has(name)));
        this.#charts.replaceChildren(...this.charts.map((chart) => chart.root));
        this.events.chosen(this.chosen);
        this.#draw();
      },
    );
    row.append(
      element("code", {}, name),
      element("span", { class: "muted" }, metricNamed(name)?.summary ?? ""),
    );
    return element("li", {}, row);
  }

  #chart(name: string): void {
    const id = `metric:${name}`;
    this.#drawn.set(name, new Chart({ id, title: name, theme: this.theme }, this.events.chart(id)));
  }
}

const formats: Readonly<Record<string, Format>> = {
  fraction: "fraction",
  tokens: "tokens",
  seconds: "seconds",
  bytes: "bytes",
};

function modelOf(view: RunView, metric: string): ChartModel {
  const aligned = align([view.series.column(metric)]);
  const format = formats[metricNamed(metric)?.unit ?? ""] ?? "number";
  return charted(view, metric, aligned, [lineOf({ name: metric, tone: 0, dash: 0, format }, aligned, 0)]);
}
