/** The run panel: a view of one run, fed by its host. */
import "uplot/dist/uPlot.min.css";
import "./run.css";
import "./failures.css";
import "./rollouts/rollouts.css";
import "./curriculum/lanes.css";
import {
  panelVersion,
  readPanelState,
  wantedMetric,
  type Brush,
  type ChartId,
  type FromPanel,
  type PanelAction,
  type PanelFailures,
  type PanelRun,
  type PanelState,
  type RolloutPlace,
  type ToPanel,
} from "../../shared/editor/runPanel.ts";
import type { CurriculumOverview, EvaluationRow, Series } from "../../shared/protocol/protocol.ts";
import { Chart } from "../shared/chart.ts";
import { button, element, setShown } from "../shared/dom.ts";
import { connect, type Host } from "../shared/messaging.ts";
import { RunSeries } from "../shared/series.ts";
import { onThemeChange, readTheme } from "../shared/theme.ts";
import { Header } from "./header.ts";
import { charts } from "./charts.ts";
import { Constants, constants } from "./constants.ts";
import { LanesView } from "./curriculum/lanes.ts";
import { firstTraining, warming, type RunView } from "./models.ts";
import { RolloutsView } from "./rollouts/rollouts.ts";

/** A range whose end is the run's end, however far that moves. */
const openEnd = Number.MAX_SAFE_INTEGER;

class RunPanel {
  readonly #series = new RunSeries();
  /** A part of the run in finer detail than the whole could be sent in. */
  #detail: RunSeries | null = null;
  #detailed: readonly [number, number] | null = null;
  #run: PanelRun | null = null;
  #evaluations: readonly EvaluationRow[] = [];
  #overview: CurriculumOverview | null = null;
  #errors = 0;
  #failures: PanelFailures | undefined;
  #reduced = false;
  #cursor: number | null = null;
  #range: readonly [number, number] | null;
  #asked = 0;
  #brushes = 0;
  /** Explained before the window was loaded again. */
  #left: RolloutPlace | null;
  #started = false;
  /** Asked for before there was a run to draw. */
  #focus: ChartId | null = null;
  /** Charts in which nothing changes are drawn too. */
  #unfolded = false;
  readonly #constants = new Constants((unfolded) => this.#unfold(unfolded));
  readonly #tables: Set<string>;
  readonly #scroll: number;
  readonly #header: Header;
  readonly #charts: readonly Chart[];
  readonly #lanes: LanesView;
  readonly #rollouts: RolloutsView;
  readonly #views = element("div", { class: "views", role: "group", "aria-label": "Steps in view" });
  readonly #waiting = element("p", { class: "waiting", role: "status" }, "Loading the run…");
  readonly #body = element("div", { class: "body" });
  readonly #host: Host<FromPanel, PanelState>;

  constructor(root: HTMLElement) {
    this.#host = connect<ToPanel, FromPanel, PanelState>(panelVersion, (message) => this.#receive(message));
    const left = readPanelState(this.#host.left);
    this.#range = left?.range ?? null;
    this.#scroll = left?.scroll ?? 0;
    this.#tables = new Set(left?.tables ?? []);
    const theme = readTheme();
    this.#header = new Header(
      (action) => this.#act(action),
      () => this.#openRollouts(this.#cursor),
      (place) => this.#host.post({ version: panelVersion, type: "openPlace", ...place }),
    );
    this.#charts = charts.map(({ id, title }) => this.#makeChart(id, title, theme));
    const grid = element("main", { class: "charts" }, ...this.#charts.map((chart) => chart.root));
    for (const chart of this.#charts)
      chart.root.classList.toggle("wide", charts.find(({ id }) => id === chart.id)?.wide === true);
    this.#rollouts = new RolloutsView({
      asked: (step) => {
        this.#host.post({ version: panelVersion, type: "rollouts", step });
        this.#keep();
      },
      chosen: (place) => {
        this.#host.post({ version: panelVersion, type: "why", place });
        this.#keep();
      },
      closed: () => this.#keep(),
      cleared: () => {
        this.#lanes.clearBrush();
        this.#keep();
      },
    });
    this.#lanes = new LanesView(
      {
        asked: (id, view) => this.#host.post({ version: panelVersion, type: "curriculum", id, view }),
        brushed: (brush) => {
          this.#brush(brush);
          this.#keep();
        },
        opened: () => this.#keep(),
        pointed: (step) => this.#point(step),
        stageMoved: (stage, was, steps) =>
          this.#host.post({ version: panelVersion, type: "moveStage", stage, was, steps }),
      },
      theme,
      { path: left?.lanes ?? { family: null, arm: null }, brush: left?.brush ?? null },
    );
    this.#left = left?.rollout ?? null;
    this.#body.append(
      this.#header.root,
      this.#views,
      grid,
      this.#constants.root,
      this.#lanes.root,
      this.#rollouts.root,
    );
    setShown(this.#body, false);
    root.append(this.#waiting, this.#body);
    onThemeChange(() => this.#retheme());
    window.addEventListener("scroll", () => this.#keep(), { passive: true });
    this.#host.post({ version: panelVersion, type: "ready", state: left });
  }

  #makeChart(id: string, title: string, theme: ReturnType<typeof readTheme>): Chart {
    const chart = new Chart(
      id,
      title,
      {
        pointed: (step) => this.#point(step),
        opened: (step) => this.#openRollouts(step),
        zoomed: (range) => this.#zoom(range),
        tabled: (visible) => {
          if (visible) this.#tables.add(id);
          else this.#tables.delete(id);
          this.#keep();
        },
      },
      theme,
    );
    if (this.#tables.has(id)) chart.showTable(true);
    return chart;
  }

  #receive(message: ToPanel): void {
    switch (message.type) {
      case "show":
        this.#failures = message.failures;
        return this.#show(message.run, message.series, message.evaluations, message.errors);
      case "live": {
        for (const step of message.steps) {
          const wanted = {
            ...step,
            metrics: Object.fromEntries(Object.entries(step.metrics).filter(([name]) => wantedMetric(name))),
          };
          this.#series.merge(wanted);
          if (step.step <= (this.#detailed?.[1] ?? -1)) this.#detail?.merge(wanted);
        }
        this.#run = message.run;
        this.#evaluations = message.evaluations;
        [this.#errors, this.#failures] = [message.errors, message.failures];
        return this.#draw();
      }
      case "range": {
        if (message.id !== this.#asked || this.#run === null) return;
        this.#detailed = this.#range;
        this.#detail = new RunSeries();
        this.#detail.load(message.series, this.#run.summary.attempt, this.#range?.[0]);
        return this.#draw();
      }
      case "curriculum": {
        this.#lanes.show(message.id, message.overview);
        if (message.overview.arm !== null || message.overview.family !== null) return;
        this.#overview = message.overview;
        return this.#drawCharts();
      }
      case "brushed":
        return this.#rollouts.listBrush(message.id, message.groups, message.more);
      case "rollouts":
        return this.#rollouts.list(message.step, message.groups, message.more);
      case "why":
        return this.#rollouts.explain(message.why, message);
      case "unanswered":
        return message.to === "curriculum"
          ? this.#lanes.unanswered(message.message)
          : this.#rollouts.unanswered(message.to, message.message);
      case "focus":
        this.#focus = message.chart;
        return this.#run === null ? undefined : this.#bringToEye();
      case "link":
        return this.#header.setLink(message.link);
      case "gone":
        setShown(this.#waiting, this.#run === null);
        this.#waiting.textContent = message.message;
        return this.#header.setGone(message.message);
    }
  }

  #show(
    run: PanelRun,
    series: readonly Series[],
    evaluations: readonly EvaluationRow[],
    errors: number,
  ): void {
    const begins = this.#run === null;
    this.#series.load(series, run.summary.attempt);
    this.#detail = null;
    this.#reduced = series.some((one) => one.total > one.steps.length);
    [this.#run, this.#evaluations, this.#errors] = [run, evaluations, errors];
    setShown(this.#waiting, false);
    setShown(this.#body, true);
    this.#draw();
    if (begins) window.scrollTo(0, this.#scroll);
    if (this.#range !== null) this.#refine(this.#range);
    this.#openLeft();

    this.#bringToEye();
    this.#keep();
  }

  /** What was listed before the window was loaded again. */
  #openLeft(): void {
    const [rollout, brush] = [this.#left, this.#started ? null : this.#lanes.brush];
    [this.#left, this.#started] = [null, true];
    if (brush !== null) this.#brush(brush, rollout);
    else if (rollout !== null) this.#rollouts.open(rollout.step, rollout);
  }

  /** The outline passes: it says which, once. */
  #bringToEye(): void {
    const chart = this.#charts.find(({ id }) => id === this.#focus);
    this.#focus = null;
    if (chart === undefined) return;
    if (chart.root.hidden) this.#unfold(true);
    chart.root.scrollIntoView({ block: "center" });
    chart.root.classList.remove("pointed");
    // Read, so that the same chart can be pointed at twice.
    void chart.root.offsetWidth;
    chart.root.classList.add("pointed");
  }

  #draw(): void {
    const run = this.#run;
    if (run === null) return;
    const view = this.#view(run);
    this.#body.classList.toggle("warming", warming(view));
    this.#header.update(view, this.#errors, this.#failures);
    this.#header.setCursor(this.#cursor);
    this.#drawCharts();
    this.#lanes.update(this.#framed(run), run);
    this.#drawViews(run);
    this.#rollouts.update(run.summary.step, this.#cursor);
  }

  #view(run: PanelRun): RunView {
    return { run, series: this.#series, evaluations: this.#evaluations, overview: this.#overview };
  }

  #drawCharts(): void {
    const run = this.#run;
    if (run === null) return;
    const view = this.#view(run);
    const drawn: RunView = this.#detail === null ? view : { ...view, series: this.#detail };
    const marks = run.stages.map(({ step, name }) => ({ step, name }));
    const range = this.#framed(run);
    const folded: string[] = [];
    for (const chart of this.#charts) {
      const definition = charts.find(({ id }) => id === chart.id);
      if (definition === undefined) continue;
      const model = definition.model(drawn);
      const still = this.#unfolded || definition.steady === true ? null : constants(definition.title, model);
      if (still !== null) folded.push(still);
      setShown(chart.root, still === null && (definition.optional !== true || model.empty === null));
      chart.update(model, marks, range);
    }
    this.#constants.show(folded, this.#unfolded);
  }

  /** The steps that every chart shows, so that one crosshair means one moment: training only, unless asked otherwise. */
  #framed(run: PanelRun): readonly [number, number] {
    const last = Math.max(this.#series.last, run.summary.step);
    if (this.#range !== null)
      return [this.#range[0], Math.max(this.#range[0] + 1, Math.min(this.#range[1], last))];
    const begins = firstTraining(run);
    return begins === null || begins > last ? [0, Math.max(last, 1)] : [begins, Math.max(last, begins + 1)];
  }

  #drawViews(run: PanelRun): void {
    const begins = firstTraining(run);
    const warmed = begins !== null && begins > 0;
    const whole = this.#range !== null && this.#range[0] === 0 && this.#range[1] === openEnd;
    const zoomed = this.#range !== null && !whole;
    const choice = (
      label: string,
      chosen: boolean,
      range: readonly [number, number] | null,
    ): HTMLButtonElement =>
      button(label, { class: "quiet", "aria-pressed": String(chosen) }, () => this.#zoom(range));
    const signature = `${warmed}${whole}${zoomed}${String(this.#range)}`;
    if (this.#views.dataset["shown"] === signature) return;
    this.#views.dataset["shown"] = signature;
    const buttons = warmed
      ? [choice("Training", this.#range === null, null), choice("Whole Run", whole, [0, openEnd])]
      : [];
    if (zoomed && this.#range !== null)
      buttons.push(choice(`Steps ${this.#range[0]} to ${this.#range[1]}  ✕`, true, null));
    this.#views.replaceChildren(...buttons);
    setShown(this.#views, buttons.length > 0);
  }

  #unfold(unfolded: boolean): void {
    this.#unfolded = unfolded;
    this.#drawCharts();
  }

  #point(step: number | null): void {
    this.#cursor = step;
    for (const chart of this.#charts) chart.setCursor(step);
    this.#header.setCursor(step);
    this.#lanes.setCursor(step);
    this.#rollouts.update(this.#run?.summary.step ?? -1, step);
  }

  #zoom(range: readonly [number, number] | null): void {
    this.#range = range;
    // What is known in detail is drawn until the part of it that was asked for comes.
    const known = this.#detailed;
    const within = known !== null && range !== null && range[0] >= known[0] && range[1] <= known[1];
    if (!within) this.#detail = this.#detailed = null;
    this.#draw();
    if (range !== null) this.#refine(range);
    this.#keep();
  }

  /** Asks for the steps in view in finer detail where the whole run came reduced, or has been since. */
  #refine(range: readonly [number, number]): void {
    const reduced = this.#reduced || this.#series.width > 1;
    if (!reduced || range[1] === openEnd) return;
    this.#asked++;
    this.#host.post({
      version: panelVersion,
      type: "range",
      id: this.#asked,
      metrics: this.#series.names.filter(wantedMetric),
      from: range[0],
      to: range[1],
    });
  }

  #brush(brush: Brush | null, rollout: RolloutPlace | null = null): void {
    if (brush === null) return this.#rollouts.closeBrush();
    this.#brushes++;
    this.#rollouts.openBrush(this.#brushes, brush, rollout);
    this.#host.post({ version: panelVersion, type: "brush", id: this.#brushes, brush });
  }

  #openRollouts(step: number | null): void {
    this.#host.post({
      version: panelVersion,
      type: "act",
      action: "openRollouts",
      ...(step === null ? {} : { step }),
    });
  }

  #act(action: PanelAction): void {
    this.#host.post({ version: panelVersion, type: "act", action });
  }

  #retheme(): void {
    const theme = readTheme();
    for (const chart of this.#charts) chart.setTheme(theme);
    this.#lanes.setTheme(theme);
  }

  #keep(): void {
    const run = this.#run?.summary.id;
    if (run !== undefined)
      this.#host.keep({
        run,
        range: this.#range,
        scroll: window.scrollY,
        tables: [...this.#tables],
        rollout: this.#rollouts.chosen,
        lanes: this.#lanes.path,
        brush: this.#lanes.brush,
      });
  }
}

const root = document.getElementById("root");
if (root !== null) new RunPanel(root);
