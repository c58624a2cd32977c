/** The curriculum's lanes: families, arms or tasks by steps, what they cost, and a brush that chooses rollouts. */
import type { CurriculumOverview } from "../../../shared/protocol/protocol.ts";
import type { Brush, CurriculumView, LanesPath, PanelRun } from "../../../shared/editor/runPanel.ts";
import { button, element, setShown, setText, unbroken } from "../../shared/dom.ts";
import type { Mark } from "../../shared/plot.ts";
import type { Theme } from "../../shared/theme.ts";
import { Boundaries } from "./boundaries.ts";
import { listenTo, moved } from "./lanesInput.ts";
import {
  above,
  areasOf,
  boundariesOf,
  brushOf,
  carriedArea,
  carriedPlace,
  columnCount,
  describeCell,
  describeReasons,
  describeTotals,
  opened,
  opensTo,
  shownNames,
  stepsOf,
  summarizeLanes,
  viewOf,
  type Area,
  type Boundary,
  type CellPlace,
} from "./lanesModel.ts";
import { backLabel, labelOf, legendOf, statusOf, tableOf } from "./lanesParts.ts";
import { cellUnder, columnInView, drawLanes, scaleOf } from "./lanesPlot.ts";
import { LanesQuestions } from "./lanesQuestions.ts";

interface LanesEvents {
  readonly asked: (id: number, view: CurriculumView) => void;
  readonly brushed: (brush: Brush | null) => void;
  /** Other lanes are opened. */
  readonly opened: () => void;
  readonly pointed: (step: number | null) => void;
  readonly stageMoved: (stage: string, was: number, steps: number) => void;
}

const keys =
  "Arrow keys move from cell to cell, Shift and arrow keys mark cells, Enter lists their rollouts, Escape clears the mark.";

export class LanesView {
  readonly root: HTMLElement;
  readonly #legend = element("ul", { class: "legend" });
  readonly #back: HTMLButtonElement;
  readonly #toggle: HTMLButtonElement;
  readonly #labels = element("div", { class: "labels", role: "group", "aria-label": "Lanes" });
  readonly #area: HTMLElement;
  readonly #canvas = element("canvas", { "aria-hidden": "true" });
  readonly #grid: HTMLElement;
  readonly #status = element("p", { class: "muted", role: "status" });
  readonly #cell = element("p", { class: "cell muted" });
  readonly #totals = element("ul", { class: "totals" });
  readonly #reasons = element("p", { class: "muted reasons" });
  readonly #table = element("div", {
    class: "table",
    tabindex: 0,
    role: "region",
    "aria-label": "Curriculum, table",
  });
  #overview: CurriculumOverview | null = null;
  #theme: Theme;
  #marks: readonly Mark[] = [];
  #path: LanesPath;
  #range: readonly [number, number] = [0, 0];
  readonly #ends: Boundaries;
  #boundaries: readonly Boundary[] = [];
  readonly #questions: LanesQuestions;
  #cursor: CellPlace | null = null;
  /** What is being marked; then it is the brush. */
  #marking: Area | null = null;
  #brush: Brush | null;

  constructor(
    private readonly events: LanesEvents,
    theme: Theme,
    left: { readonly path: LanesPath; readonly brush: Brush | null },
  ) {
    this.#theme = theme;
    [this.#path, this.#brush] = [left.path, left.brush];
    this.#ends = new Boundaries({
      moved: events.stageMoved,
      said: (text) => setText(this.#cell, text),
    });
    this.#questions = new LanesQuestions(events.asked);
    this.#back = button("All Arms", { class: "quiet" }, () => this.#open(above(this.#path)));
    this.#toggle = button(
      "Table",
      { class: "quiet", "aria-pressed": "false", "aria-label": "Curriculum as a table" },
      () => this.#showTable(this.#table.hidden !== false),
    );
    this.#area = element(
      "div",
      {
        class: "lane-area",
        tabindex: 0,
        role: "slider",
        "aria-label": "Pass rate",
        "aria-describedby": "lanes-keys",
      },
      this.#canvas,
    );
    this.#grid = element(
      "div",
      { class: "lane-grid" },
      this.#labels,
      element("div", { class: "lane-field" }, this.#area, this.#ends.root),
    );
    const title = element("h2", { id: "lanes-title" }, "Curriculum: pass rate");
    this.root = element(
      "section",
      { class: "chart wide lanes", "data-chart": "lanes", "aria-labelledby": "lanes-title" },
      element("header", {}, title, this.#legend, this.#back, this.#toggle),
      this.#status,
      this.#grid,
      element("p", { class: "visually-hidden", id: "lanes-keys" }, keys),
      this.#table,
      this.#cell,
      this.#totals,
      this.#reasons,
    );
    setShown(this.#table, false);
    setShown(this.root, false);
    listenTo(this.#area, {
      under: (x, y) => this.#under(x, y),
      point: (place) => this.#point(place),
      press: () => (this.#marking = null),
      drag: (from, to) => this.#mark({ from: this.#marking?.from ?? from, to }),
      drop: (from, to) => {
        this.#mark({ from: this.#marking?.from ?? from, to });
        this.#listRollouts();
      },
      key: (event) => this.#onKey(event),
    });
    new ResizeObserver(() => this.#draw()).observe(this.#area);
  }

  /** @param range the steps in view */
  update(range: readonly [number, number], run: PanelRun): void {
    const last = run.summary.step;
    this.#marks = run.stages;
    this.#boundaries = boundariesOf(run);
    this.#range = [range[0], Math.min(range[1], Math.max(last, range[0]))];
    if (last < 0) return;
    this.#ask();
    this.#draw();
  }

  show(id: number, overview: CurriculumOverview): void {
    if (!this.#questions.answered(id, overview.unread !== undefined)) return;
    const before = this.#overview;
    this.#overview = overview;
    if (before !== null) this.#carry(before, overview);
    setShown(this.root, opened(this.#path) || overview.lanes.length > 0);
    setShown(this.#back, opened(this.#path));
    setText(this.#back, backLabel(this.#path));
    setShown(this.#grid, overview.lanes.length > 0 && this.#table.hidden !== false);
    setText(this.#status, statusOf(overview));
    this.#totals.replaceChildren(
      ...describeTotals(overview).map((text) => element("li", {}, unbroken(text))),
    );
    setText(this.#reasons, describeReasons(overview));
    this.#area.ariaLabel = `Pass rate by ${overview.by}. ${summarizeLanes(overview)}`;
    this.#fillLabels(overview);
    if (!this.#table.hidden) this.#table.replaceChildren(tableOf(overview));
    this.#draw();
  }

  /** While a run continues, its columns widen and its lanes change: what is pointed at and marked stays. */
  #carry(before: CurriculumOverview, after: CurriculumOverview): void {
    if (this.#cursor !== null) this.#cursor = carriedPlace(before, after, this.#cursor);
    if (this.#marking !== null) this.#marking = carriedArea(before, after, this.#marking);
  }

  unanswered(message: string): void {
    this.#questions.failed();
    setShown(this.root, true);
    setText(this.#status, message);
  }

  setTheme(theme: Theme): void {
    this.#theme = theme;
    this.#draw();
  }

  /** Where the charts point, in every lane at once. */
  setCursor(step: number | null): void {
    const column = this.#overview === null ? null : columnInView(this.#overview, step);
    const lane = this.#cursor?.lane ?? 0;
    if (column === (this.#cursor?.column ?? null)) return;
    this.#cursor = column === null ? null : { lane, column };
    this.#draw();
  }

  get path(): LanesPath {
    return this.#path;
  }
  get brush(): Brush | null {
    return this.#brush;
  }
  clearBrush(): void {
    [this.#marking, this.#brush] = [null, null];
    this.#draw();
  }

  // ─────────────────────────────────────────────────────────────── asking

  #ask(): void {
    this.#questions.ask(viewOf(this.#path, this.#range));
  }

  #open(path: LanesPath): void {
    this.#path = path;
    [this.#cursor, this.#marking] = [null, null];
    this.#ask();
    this.events.opened();
  }

  // ─────────────────────────────────────────────────────────────── showing

  #fillLabels(overview: CurriculumOverview): void {
    const names = shownNames(overview);
    const labels = overview.lanes.map((lane, i) => {
      const path = opensTo(overview, lane);
      return labelOf(lane, names[i] ?? lane.name, path === null ? null : () => this.#open(path));
    });
    this.#labels.replaceChildren(...labels);
  }

  #showTable(visible: boolean): void {
    this.#toggle.setAttribute("aria-pressed", String(visible));
    setShown(this.#table, visible);
    setShown(this.#grid, !visible && (this.#overview?.lanes.length ?? 0) > 0);
    if (visible && this.#overview !== null) this.#table.replaceChildren(tableOf(this.#overview));
    else this.#draw();
  }

  #draw(): void {
    const overview = this.#overview;
    const width = this.#area.clientWidth;
    if (overview === null || overview.lanes.length === 0 || width === 0) return;
    const { place, words } = this.#pointed(overview);
    drawLanes(this.#canvas, width, {
      overview,
      marks: this.#marks,
      cursor: this.#cursor,
      chosen: this.#chosen(overview),
      theme: this.#theme,
    });
    this.#ends.update(this.#boundaries, scaleOf(overview, width));
    setText(this.#cell, this.#cursor === null ? "" : words);
    for (const [name, value] of [
      ["valuemin", "0"],
      ["valuemax", String(columnCount(overview) - 1)],
      ["valuenow", String(place.column)],
      ["valuetext", words],
    ] as const)
      this.#area.setAttribute(`aria-${name}`, value);
    this.#legend.replaceChildren(...legendOf(this.#theme));
  }

  #pointed(overview: CurriculumOverview): { readonly place: CellPlace; readonly words: string } {
    const place = this.#cursor ?? { lane: 0, column: columnCount(overview) - 1 };
    return { place, words: describeCell(overview, place) };
  }

  // ─────────────────────────────────────────────────────────────── pointing and marking

  #point(place: CellPlace | null): void {
    this.#cursor = place;
    this.#draw();
    const overview = this.#overview;
    if (overview !== null) this.events.pointed(place === null ? null : stepsOf(overview, place.column)[0]);
  }

  #mark(area: Area): void {
    this.#marking = area;
    this.#draw();
  }

  #chosen(overview: CurriculumOverview): readonly Area[] {
    if (this.#marking !== null) return [this.#marking];
    return this.#brush === null ? [] : areasOf(overview, this.#brush);
  }

  #listRollouts(): void {
    const overview = this.#overview;
    if (overview === null || this.#cursor === null) return;
    const { from, to } = this.#marking ?? { from: this.#cursor, to: this.#cursor };
    [this.#marking, this.#brush] = [null, brushOf(overview, from, to)];
    this.#draw();
    this.events.brushed(this.#brush);
  }

  #clear(): void {
    const marked = this.#marking !== null || this.#brush !== null;
    this.clearBrush();
    if (marked) this.events.brushed(null);
    else if (opened(this.#path)) this.#open(above(this.#path));
  }

  #under(x: number, y: number): CellPlace | null {
    const { left, top, width } = this.#canvas.getBoundingClientRect();
    const overview = this.#overview;
    return overview === null || width === 0 ? null : cellUnder(overview, width, x - left, y - top);
  }

  #onKey(event: KeyboardEvent): void {
    const overview = this.#overview;
    if (overview === null) return;
    if (event.key === "Enter" || event.key === " ") {
      this.#cursor ??= this.#pointed(overview).place;
      this.#listRollouts();
    } else if (event.key === "Escape") this.#clear();
    else if (!this.#move(overview, event)) return;
    event.preventDefault();
  }

  #move(overview: CurriculumOverview, { key, shiftKey }: KeyboardEvent): boolean {
    const here = this.#pointed(overview).place;
    const to = moved(overview, here, key);
    if (to === undefined) return false;
    if (shiftKey) this.#mark({ from: this.#marking?.from ?? here, to });
    else this.#marking = null;
    this.#point(to);
    return true;
  }
}
