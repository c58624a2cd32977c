/** A chart as a person meets it: title, legend with values at the cursor, canvas, keyboard, summary and table. */
import type uPlot from "uplot";
import {
  describeStep,
  nearest,
  placeOf,
  saidUpTo,
  summarize,
  tableRows,
  type ChartModel,
  type ChartLine,
} from "./chartModel.ts";
import { button, element, setShown, setText } from "./dom.ts";
import { columnsOf, createPlot, shapeOf, toneColor, type Mark } from "./plot.ts";
import { dashes, type Theme } from "./theme.ts";

interface ChartEvents {
  /** The cursor is on a step, or on none. */
  readonly pointed: (step: number | null) => void;
  readonly opened: (step: number) => void;
  readonly zoomed: (range: readonly [number, number] | null) => void;
  readonly tabled: (visible: boolean) => void;
}

const mostRows = 400;
const clickReach = 4;

export class Chart {
  readonly root: HTMLElement;
  readonly #legend = element("ul", { class: "legend" });
  readonly #plotArea: HTMLElement;
  /** The name of the axis, and which step the legend's values are of. */
  readonly #axis = element("p", { class: "axis", "aria-hidden": "true" });
  readonly #empty = element("p", { class: "empty" });
  readonly #summary: HTMLElement;
  readonly #table = element("div", { class: "table", tabindex: 0, role: "region" });
  readonly #toggle: HTMLButtonElement;
  #plot: uPlot | undefined;
  #shape = "";
  #model: ChartModel = { steps: [], lines: [], limits: null, empty: "" };
  #theme: Theme;
  #marks: readonly Mark[] = [];
  #range: readonly [number, number] | null = null;
  #cursor: number | null = null;
  #tableShown = false;
  /** Moving every chart's cursor to a step must not be taken for a person pointing at it. */

  constructor(
    readonly id: string,
    readonly title: string,
    private readonly events: ChartEvents,
    theme: Theme,
  ) {
    this.#theme = theme;
    this.#summary = element("p", { class: "visually-hidden", id: `${id}-summary` });
    this.#plotArea = element("div", {
      class: "plot",
      tabindex: 0,
      role: "slider",
      "aria-orientation": "horizontal",
      "aria-label": `${title}: step. Arrow keys move, Enter opens the rollouts of the step`,
      "aria-describedby": `${id}-summary`,
    });
    this.#toggle = button(
      "Table",
      { class: "quiet", "aria-pressed": "false", "aria-label": `${title} as a table` },
      () => this.showTable(!this.#tableShown, true),
    );
    this.#table.setAttribute("aria-label", `${title}, table`);
    this.root = element(
      "section",
      { class: "chart", "data-chart": id, "aria-labelledby": `${id}-title` },
      element("header", {}, element("h2", { id: `${id}-title` }, title), this.#legend, this.#toggle),
      this.#plotArea,
      this.#axis,
      this.#empty,
      this.#table,
      this.#summary,
    );
    this.#table.hidden = true;
    this.#plotArea.addEventListener("keydown", (event) => this.#onKey(event));
    this.#plotArea.addEventListener(
      "focus",
      () => this.#cursor ?? this.events.pointed(this.#model.steps.at(-1) ?? null),
    );
    this.#listenToClicks();
    new ResizeObserver(() => this.#resize()).observe(this.#plotArea);
  }

  update(model: ChartModel, marks: readonly Mark[], range: readonly [number, number] | null): void {
    const shape = shapeOf(model) + JSON.stringify(marks);
    this.#model = model;
    this.#marks = marks;
    this.#range = range;
    const drawn = model.empty === null;
    setShown(this.#empty, !drawn);
    setShown(this.#toggle, drawn);
    if (!drawn) setShown(this.#table, false);
    setText(this.#empty, model.empty ?? "");
    setShown(this.#plotArea, drawn && !this.#tableShown);
    setText(this.#summary, summarize(model));
    if (!drawn) this.#discard();
    else if (shape !== this.#shape || this.#plot === undefined) this.#build(shape);
    else this.#refill(this.#plot);
    if (drawn && this.#tableShown) {
      setShown(this.#table, true);
      this.#fillTable();
    }
    this.#label();
  }

  setTheme(theme: Theme): void {
    this.#theme = theme;
    this.#discard();
    if (this.#model.empty === null) this.#build(shapeOf(this.#model) + JSON.stringify(this.#marks));
    this.#label();
  }

  /** Moves the cursor without telling anyone. */
  setCursor(step: number | null): void {
    this.#cursor = step;
    this.#placeCursor();
    this.#label();
  }

  showTable(visible: boolean, notify = false): void {
    this.#tableShown = visible;
    this.#toggle.setAttribute("aria-pressed", String(visible));
    setShown(this.#table, visible);
    setShown(this.#plotArea, !visible && this.#model.empty === null);
    setShown(this.#axis, !this.#plotArea.hidden);
    if (visible) this.#fillTable();
    if (notify) this.events.tabled(visible);
  }

  #build(shape: string): void {
    this.#discard();
    const { clientWidth, clientHeight } = this.#plotArea;
    if (clientWidth === 0) return;
    this.#shape = shape;
    const options = {
      width: clientWidth,
      height: clientHeight,
      theme: this.#theme,
      marks: this.#marks,
      pointed: (at: number | null) =>
        this.events.pointed(at === null ? null : (this.#model.steps[nearest(this.#model.steps, at)] ?? null)),
      selected: (from: number, to: number) => this.events.zoomed([Math.floor(from), Math.ceil(to)]),
    };
    this.#plot = createPlot(this.#model, this.#plotArea, options, () => this.#model);
    this.#plot.batch((plot: uPlot) => this.#scale(plot));
    this.#placeCursor();
  }

  #refill(plot: uPlot): void {
    plot.batch(() => {
      plot.setData(columnsOf(this.#model), true);
      this.#scale(plot);
    });
    this.#placeCursor();
  }

  #scale(plot: uPlot): void {
    const { steps } = this.#model;
    const [min, max] = this.#range ?? [steps[0] ?? 0, Math.max(steps.at(-1) ?? 1, (steps[0] ?? 0) + 1)];
    plot.setScale("x", { min, max });
  }

  #discard(): void {
    this.#plot?.destroy();
    this.#plot = undefined;
    this.#shape = "";
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.#plotArea;
    if (width === 0) return;
    if (this.#plot === undefined) {
      if (this.#model.empty === null) this.#build(shapeOf(this.#model) + JSON.stringify(this.#marks));
    } else if (this.#plot.width !== width || this.#plot.height !== height) {
      this.#plot.batch((plot: uPlot) => plot.setSize({ width, height }));
      this.#placeCursor();
    }
  }

  /**
   * To the cursor's step. uPlot keeps a cursor's pixel, not its step, so this follows every change of the axis, once the
   * change has been made: hence `batch`, which makes it at once.
   */
  #placeCursor(): void {
    const plot = this.#plot;
    if (plot === undefined) return;
    const index = this.#cursor === null ? -1 : nearest(this.#model.steps, this.#cursor);
    const left = index < 0 ? -10 : plot.valToPos(this.#model.steps[index]!, "x");
    plot.setCursor({ left, top: 0 }, false);
  }

  #label(): void {
    const { steps, lines } = this.#model;
    const index = this.#cursor === null ? steps.length - 1 : nearest(steps, this.#cursor);
    this.#plotArea.setAttribute("aria-valuemin", String(steps[0] ?? 0));
    this.#plotArea.setAttribute("aria-valuemax", String(steps.at(-1) ?? 0));
    this.#plotArea.setAttribute("aria-valuenow", String(steps[index] ?? 0));
    this.#plotArea.setAttribute("aria-valuetext", describeStep(this.#model, index));
    this.#legend.replaceChildren(...lines.map((line) => this.#legendEntry(line, index)));
    setText(this.#axis, `step  ·  legend: ${placeOf(this.#model, index)}`);
    setShown(this.#axis, !this.#plotArea.hidden);
  }

  #legendEntry(line: ChartLine, index: number): HTMLElement {
    const value = saidUpTo(line, index);
    const band = line.band === undefined ? [] : [element("span", { class: "muted" }, line.band.name)];
    return element(
      "li",
      {},
      swatch(line, this.#theme),
      element("span", {}, line.name),
      element("b", {}, value),
      ...band,
    );
  }

  #fillTable(): void {
    const { lines, steps } = this.#model;
    const head = element(
      "tr",
      {},
      ...["step", ...lines.map((line) => line.name)].map((name) => element("th", { scope: "col" }, name)),
    );
    const rows = tableRows(this.#model, mostRows).map(([step, ...cells]) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, step ?? ""),
        ...cells.map((cell) => element("td", {}, cell)),
      ),
    );
    const hiddenRows = steps.length - rows.length;
    const note =
      hiddenRows > 0
        ? [
            element(
              "p",
              { class: "muted" },
              `${hiddenRows} earlier steps are not listed; zoom in to see them.`,
            ),
          ]
        : [];
    this.#table.replaceChildren(
      element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)),
      ...note,
    );
  }

  #listenToClicks(): void {
    let pressed: number | null = null;
    this.#plotArea.addEventListener("mousedown", (event) => (pressed = event.clientX), true);
    this.#plotArea.addEventListener("click", (event) => {
      const still = pressed !== null && Math.abs(event.clientX - pressed) <= clickReach;
      const onCanvas = event.target instanceof Element && event.target.closest(".u-over") !== null;
      if (still && onCanvas) this.#open();
    });
    this.#plotArea.addEventListener("dblclick", () => this.events.zoomed(null));
  }

  #open(): void {
    const index = this.#cursor === null ? -1 : nearest(this.#model.steps, this.#cursor);
    const step = this.#model.steps[index];
    if (step !== undefined) this.events.opened(step);
  }

  #onKey(event: KeyboardEvent): void {
    const { steps } = this.#model;
    const here = this.#cursor === null ? steps.length - 1 : nearest(steps, this.#cursor);
    const stride = event.shiftKey ? 10 : 1;
    const moves: Readonly<Record<string, number>> = {
      ArrowLeft: here - stride,
      ArrowRight: here + stride,
      Home: 0,
      End: steps.length - 1,
    };
    const to = moves[event.key];
    if (to !== undefined && steps.length > 0)
      this.events.pointed(steps[Math.min(steps.length - 1, Math.max(0, to))]!);
    else if (event.key === "Enter" || event.key === " ") this.#open();
    else if (event.key === "Escape") this.events.zoomed(null);
    else return;
    event.preventDefault();
  }
}

/** A piece of the line as it is drawn, so that the legend can be read without colour. */
function swatch(line: ChartLine, theme: Theme): SVGSVGElement {
  const make = (name: string, attributes: Readonly<Record<string, string>>): SVGElement => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const color = toneColor(line, theme);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [key, value] of Object.entries({ width: "22", height: "10", "aria-hidden": "true" }))
    svg.setAttribute(key, value);
  if (line.style === "area")
    svg.append(
      make("rect", { x: "0", y: "1", width: "22", height: "9", fill: color, "fill-opacity": "0.28" }),
    );
  const y = line.style === "area" ? "1" : "5";
  const dash = dashes[line.dash % dashes.length]!.join(" ");
  svg.append(
    make("line", {
      x1: "0",
      x2: "22",
      y1: y,
      y2: y,
      stroke: color,
      "stroke-width": "2",
      ...(dash === "" ? {} : { "stroke-dasharray": dash }),
    }),
  );
  if (line.style === "points")
    svg.append(
      make("circle", {
        cx: "11",
        cy: "5",
        r: "3",
        fill: theme.background,
        stroke: color,
        "stroke-width": "2",
      }),
    );
  return svg;
}
