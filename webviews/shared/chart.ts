/** A chart as a person meets it: title, legend with values at the cursor, canvas, keyboard, summary and table. */
import type uPlot from "uplot";
import { describeStep, lastMade, nameOf, nearest, placeOf, type ChartModel } from "./chartModel.ts";
import { tableOf } from "./chartTable.ts";
import { button, element, setShown, setText, unbroken } from "./dom.ts";
import type { Gutters } from "./gutters.ts";
import { legendEntries } from "./legend.ts";
import { columnsOf, createPlot, shapeOf, type Mark } from "./plot.ts";
import { paint, unpaint, watch } from "./painter.ts";
import { pngOf } from "./png.ts";
import { csvOf, svgOf } from "./saved.ts";
import { saveButton, type SaveFormat } from "./saveMenu.ts";
import type { Theme } from "./theme.ts";
import { bySteps, type XAxis } from "./xAxis.ts";

interface ChartEvents {
  /** The pointer is on a step, or has left. */
  readonly pointed: (step: number | null) => void;
  /** The step that the cursor shall stay at. */
  readonly pinned: (step: number) => void;
  /** Enter on a step; absent: there is nothing to open. */
  readonly opened?: (step: number) => void;
  readonly zoomed: (range: readonly [number, number] | null) => void;
  readonly tabled: (visible: boolean) => void;
  /** A file shall be made of the chart; absent: none can be. @param data text; of a PNG, base64 */
  readonly saved?: (file: {
    readonly title: string;
    readonly format: SaveFormat;
    readonly data: string;
  }) => void;
}

interface ChartOptions {
  readonly id: string;
  readonly title: string;
  readonly theme: Theme;
  /** Of a lane: the room at the sides of its plot, which it shares with those above and below. */
  readonly gutters?: Gutters;
}

/** Over what curves are. */
export interface Population {
  /** On the chart: "admitted · 9 of 16 groups". */
  readonly text: string;
  /** In words, at any step: "over the groups that were admitted to training". */
  readonly over: string;
  readonly why: string;
}

const keysOf = ({ opened }: ChartEvents): string =>
  `Arrow keys move from step to step, Home and End to the ends${opened === undefined ? "" : "; Enter opens the rollouts of the step"}; Escape shows all steps.`;

const clickReach = 4;

export class Chart {
  readonly root: HTMLElement;
  readonly id: string;
  readonly title: string;
  readonly #legend = element("ul", { class: "legend" });
  readonly #chip = element("span", { class: "population", tabindex: 0 });
  readonly #plotArea: HTMLElement;
  /** The name of the axis, and which step the legend's values are of. */
  readonly #axis = element("p", { class: "axis", "aria-hidden": "true" });
  readonly #empty = element("p", { class: "empty" });
  readonly #note = element("p", { class: "chart-note", hidden: true });
  readonly #table = element("div", { class: "table", tabindex: 0, role: "region" });
  readonly #toggle: HTMLButtonElement;
  readonly #save: HTMLButtonElement;
  #plot: uPlot | undefined;
  #shape = "";
  #model: ChartModel = { steps: [], lines: [], limits: null, empty: "" };
  #theme: Theme;
  #marks: readonly Mark[] = [];
  #range: readonly [number, number] | null = null;
  #cursor: number | null = null;
  #x: XAxis = bySteps;
  readonly #gutters: Gutters | null;
  #tableShown = false;
  /** "over held-out tasks" */
  #over = "";

  constructor(
    { id, title, theme, gutters }: ChartOptions,
    private readonly events: ChartEvents,
  ) {
    [this.id, this.title] = [id, title];
    this.#theme = theme;
    this.#gutters = gutters ?? null;
    setShown(this.#chip, false);
    const keys = element("p", { class: "visually-hidden", id: `${id}-keys` }, keysOf(events));
    this.#plotArea = element("div", {
      class: "plot",
      tabindex: 0,
      role: "slider",
      "aria-orientation": "horizontal",
      "aria-label": title,
      "aria-describedby": `${id}-keys`,
    });
    this.#toggle = button(
      "Table",
      { class: "quiet", "aria-pressed": "false", "aria-label": `${title} as a table` },
      () => this.showTable(!this.#tableShown, true),
    );
    this.#save = saveButton(title, (format) => void this.#saveAs(format));
    this.#table.setAttribute("aria-label", `${title}, table`);
    this.root = element(
      "section",
      {
        class: gutters === undefined ? "chart" : "chart lane",
        "data-chart": id,
        "aria-labelledby": `${id}-title`,
      },
      element(
        "header",
        {},
        element("h2", { id: `${id}-title` }, title),
        this.#chip,
        this.#legend,
        element("span", { class: "tools" }, this.#save, this.#toggle),
      ),
      this.#plotArea,
      this.#axis,
      this.#empty,
      this.#note,
      this.#table,
      keys,
    );
    this.#table.hidden = true;
    this.#plotArea.addEventListener("keydown", (event) => this.#onKey(event));
    this.#plotArea.addEventListener("focus", () => {
      const last = this.#model.steps[lastMade(this.#model)];
      // A press of the mouse is about the place under it.
      const byKey = this.#plotArea.matches(":focus-visible");
      if (byKey && this.#cursor === null && last !== undefined) this.events.pinned(last);
    });
    this.#listenToClicks();
    new ResizeObserver(() => this.#resize()).observe(this.#plotArea);
    watch(this.#plotArea);
  }

  update(
    model: ChartModel,
    marks: readonly Mark[],
    range: readonly [number, number] | null,
    x: XAxis = bySteps,
  ): void {
    [this.#model, this.#marks, this.#range, this.#x] = [model, marks, range, x];
    const drawn = model.empty === null;
    setShown(this.#empty, !drawn);
    setShown(this.#toggle, drawn);
    setShown(this.#save, drawn && this.events.saved !== undefined);
    if (!drawn) setShown(this.#table, false);
    setText(this.#empty, model.empty ?? "");
    setShown(this.#plotArea, drawn && !this.#tableShown);
    this.#name();
    if (drawn) paint(this.#plotArea, () => this.#draw());
    else this.#discard();
    if (drawn && this.#tableShown) {
      setShown(this.#table, true);
      this.#table.replaceChildren(...tableOf(this.#model));
    }
    this.#label();
  }

  setTheme(theme: Theme): void {
    this.#theme = theme;
    this.#discard();
    if (this.#model.empty === null) this.#build(this.#shapeNow());
    this.#label();
  }

  /** Over what its curves are, and why that matters; null: there is nothing to say. */
  setPopulation(population: Population | null): void {
    setShown(this.#chip, population !== null && this.#model.empty === null);
    if (population === null) return;
    this.setOver(population.over);
    setText(this.#chip, population.text);
    this.#chip.setAttribute("data-tip", population.why);
    this.#chip.setAttribute("aria-label", `Over ${population.text}. ${population.why}`);
  }

  /** A sentence below it; null: there is none. */
  setNote(text: string | null): void {
    setText(this.#note, unbroken(text ?? ""));
    setShown(this.#note, text !== null);
  }

  /** Over what its curves are, for those who hear the chart. */
  setOver(over: string): void {
    this.#over = over;
    this.#name();
  }
  /** Only where it differs: a name that changes under the focus is read out again. */
  #name(): void {
    const name = nameOf(this.title, this.#over, this.#model);
    if (this.#plotArea.ariaLabel !== name) this.#plotArea.ariaLabel = name;
  }

  /** The room at the sides has changed. */
  redraw(): void {
    this.#plot?.redraw(false, true);
    this.#placeCursor();
  }

  /** Equal while one plot can show what there is by taking other data. */
  #shapeNow(): string {
    return shapeOf(this.#model) + JSON.stringify(this.#marks) + this.#x.name;
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
    setShown(this.#axis, this.#gutters === null && !this.#plotArea.hidden);
    if (visible) this.#table.replaceChildren(...tableOf(this.#model));
    if (notify) this.events.tabled(visible);
  }

  #draw(): void {
    const shape = this.#shapeNow();
    if (shape !== this.#shape || this.#plot === undefined) this.#build(shape);
    else this.#refill(this.#plot);
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
      gutters: this.#gutters,
      // The axis by tokens or time moves on with the run.
      x: { ...this.#x, of: (step: number) => this.#x.of(step), at: (at: number) => this.#x.at(at) },
      pointed: (at: number | null) =>
        this.events.pointed(at === null ? null : (this.#model.steps[this.#nearest(at)] ?? null)),
      selected: (from: number, to: number) => this.events.zoomed([Math.floor(from), Math.ceil(to)]),
    };
    this.#plot = createPlot(this.#model, this.#plotArea, options, () => this.#model);
    this.#plot.batch((plot: uPlot) => this.#scale(plot));
    this.#placeCursor();
  }

  #refill(plot: uPlot): void {
    plot.batch(() => {
      plot.setData(columnsOf(this.#model, this.#x), true);
      this.#scale(plot);
    });
    this.#placeCursor();
  }

  #scale(plot: uPlot): void {
    const { steps } = this.#model;
    const [min, max] = this.#range ?? [steps[0] ?? 0, Math.max(steps.at(-1) ?? 1, (steps[0] ?? 0) + 1)];
    plot.setScale("x", { min: this.#x.of(min), max: this.#x.of(max) });
  }

  #discard(): void {
    unpaint(this.#plotArea);
    this.#plot?.destroy();
    this.#plot = undefined;
    this.#shape = "";
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.#plotArea;
    if (width === 0) return;
    if (this.#plot === undefined) {
      if (this.#model.empty === null) this.#build(this.#shapeNow());
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
    const index = this.#cursor === null ? -1 : this.#nearest(this.#cursor);
    const left = index < 0 ? -10 : plot.valToPos(this.#x.of(this.#model.steps[index]!), "x");
    plot.setCursor({ left, top: 0 }, false);
  }

  #label(): void {
    const { steps } = this.#model;
    const last = lastMade(this.#model);
    const index = this.#cursor === null ? last : this.#nearest(this.#cursor);
    this.#plotArea.setAttribute("aria-valuemin", String(steps[0] ?? 0));
    this.#plotArea.setAttribute("aria-valuemax", String(steps[last] ?? 0));
    this.#plotArea.setAttribute("aria-valuenow", String(steps[index] ?? 0));
    this.#plotArea.setAttribute("aria-valuetext", describeStep(this.#model, index));
    this.#legend.replaceChildren(...legendEntries(this.#model, index, this.#theme));
    setText(this.#axis, `${this.#x.name}  ·  legend: ${placeOf(this.#model, index)}`);
    setShown(this.#axis, this.#gutters === null && !this.#plotArea.hidden);
  }

  async #saveAs(format: SaveFormat): Promise<void> {
    const [first = 0, last = 1] = [this.#model.steps[0], this.#model.steps.at(-1)];
    const shown = { title: this.title, model: this.#model, theme: this.#theme, x: this.#x };
    const svg = (): string => svgOf({ ...shown, range: this.#range ?? [first, last] });
    const data = format === "CSV" ? csvOf(this.#model) : format === "SVG" ? svg() : await pngOf(svg());
    this.events.saved?.({ title: this.title, format, data });
  }

  #listenToClicks(): void {
    let pressed: number | null = null;
    this.#plotArea.addEventListener("mousedown", (event) => (pressed = event.clientX), true);
    this.#plotArea.addEventListener("click", (event) => {
      const still = pressed !== null && Math.abs(event.clientX - pressed) <= clickReach;
      const onCanvas = event.target instanceof Element && event.target.closest(".u-over") !== null;
      const step = this.#stepAtCursor();
      if (still && onCanvas && step !== undefined) this.events.pinned(step);
    });
    this.#plotArea.addEventListener("dblclick", () => this.events.zoomed(null));
  }

  #stepAtCursor(): number | undefined {
    const index = this.#cursor === null ? -1 : this.#nearest(this.#cursor);
    return this.#model.steps[index];
  }

  /** Index of the step closest to one, of those that were made. */
  #nearest(step: number): number {
    return Math.min(lastMade(this.#model), nearest(this.#model.steps, step));
  }

  #open(): void {
    const step = this.#stepAtCursor();
    if (step !== undefined) this.events.opened?.(step);
  }

  #onKey(event: KeyboardEvent): void {
    const { steps } = this.#model;
    const last = lastMade(this.#model);
    const here = this.#cursor === null ? last : this.#nearest(this.#cursor);
    const stride = event.shiftKey ? 10 : 1;
    const moves: Readonly<Record<string, number>> = {
      ArrowLeft: here - stride,
      ArrowRight: here + stride,
      Home: 0,
      End: last,
    };
    const to = moves[event.key];
    if (to !== undefined && steps.length > 0) this.events.pinned(steps[Math.min(last, Math.max(0, to))]!);
    else if (event.key === "Enter" || event.key === " ") this.#open();
    else if (event.key === "Escape") this.events.zoomed(null);
    else return;
    event.preventDefault();
  }
}
