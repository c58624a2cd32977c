/** Holds what is known of the run and where a person is in it, and hands both to the parts of the panel. */
import {
  panelVersion,
  wantedMetric,
  type Brush,
  type ChartId,
  type FromPanel,
  type PanelFacts,
  type RolloutPlace,
  type ToPanel,
} from "../../shared/editor/runPanel.ts";
import { readPanelState, type PanelState } from "../../shared/editor/panelState.ts";
import type { CurriculumOverview } from "../../shared/protocol/protocol.ts";
import type { SaveFormat } from "../shared/saveMenu.ts";
import { element, pointOut, setShown } from "../shared/dom.ts";
import { connect, type Host } from "../shared/messaging.ts";
import { RunSeries } from "../shared/series.ts";
import { onThemeChange, readTheme, type Theme } from "../shared/theme.ts";
import { LanesView } from "./curriculum/lanes.ts";
import { Detail } from "./detail.ts";
import { Header } from "./header.ts";
import { LearningCharts } from "./learning/learning.ts";
import { AllMetrics } from "./metrics/allMetrics.ts";
import { warming } from "./models.ts";
import { Following } from "./rollouts/following.ts";
import { RolloutsView } from "./rollouts/rollouts.ts";
import { framed, RangeButtons, type StepRange } from "./shownRange.ts";
import { Controls } from "./timeline/controls.ts";
import { viewOf, type EventsView } from "./timeline/events.ts";
import { scaleOf } from "./timeline/scale.ts";
import { Timeline } from "./timeline/timeline.ts";
import { xAxisOf } from "./timeline/xAxes.ts";
import { VerdictCard } from "./verdict/card.ts";

type Message = {
  [Type in FromPanel["type"]]: Omit<Extract<FromPanel, { type: Type }>, "version">;
}[FromPanel["type"]];

export class RunPanel {
  readonly #series = new RunSeries();
  readonly #detail = new Detail((id, from, to, smooth) => {
    const metrics = this.#series.names.filter((name) => this.#wants(name));
    this.#post({ type: "range", id, metrics, from, to, ...(smooth > 0 && { smooth }) });
  });
  #facts: PanelFacts | null = null;
  #overview: CurriculumOverview | null = null;
  #reduced = false;
  /** Where the pointer is, and where the cursor stays when it has left; null: at the last step. */
  #pointed: number | null = null;
  #pinned: number | null;
  #range: StepRange | null;
  #brushes = 0;
  /** Explained before the window was loaded again. */
  #left: RolloutPlace | null;
  #started = false;
  /** Asked for before there was a run to draw. */
  #focus: ChartId | null = null;
  readonly #following = new Following(() => this.#follow());
  readonly #tables: Set<string>;
  readonly #scroll: number;
  readonly #header: Header;
  readonly #card: VerdictCard;
  readonly #learning: LearningCharts;
  readonly #timeline: Timeline;
  readonly #controls: Controls;
  readonly #metrics: AllMetrics;
  readonly #lanes: LanesView;
  readonly #rollouts: RolloutsView;
  readonly #views: RangeButtons;
  readonly #waiting = element("p", { class: "waiting", role: "status" }, "Loading the run…");
  readonly #body = element("div", { class: "body" });
  readonly #host: Host<FromPanel, PanelState>;

  constructor(root: HTMLElement) {
    this.#host = connect<ToPanel, FromPanel, PanelState>(panelVersion, (message) => this.#receive(message));
    const left = readPanelState(this.#host.left);
    [this.#range, this.#pinned, this.#left] = [
      left?.range ?? null,
      left?.pinned ?? null,
      left?.rollout ?? null,
    ];
    this.#scroll = left?.scroll ?? 0;
    this.#tables = new Set(left?.tables ?? []);
    const theme = readTheme();
    this.#header = new Header(
      (action, step) => this.#post({ type: "act", action, ...(step === undefined ? {} : { step }) }),
      () => this.#openRollouts(this.#cursor),
      (place) => this.#post({ type: "openPlace", ...place }),
    );
    this.#card = new VerdictCard({
      looked: ({ step, group, index }) => this.#look({ step, group, index }),
      pinned: (step) => this.#pin(step),
      fixed: (fix) => this.#post({ type: "fix", fix }),
      dismissed: () => this.#post({ type: "dismiss" }),
    });
    const chart = (id: string) => this.#chartEvents(id);
    this.#learning = new LearningCharts(chart, theme);
    this.#timeline = new Timeline(
      { chart, pinned: (step) => this.#pin(step), changed: () => this.#drawCharts() },
      theme,
    );
    this.#controls = new Controls(() => {
      this.#refine();
      this.#draw();
    });
    this.#metrics = new AllMetrics(
      {
        asked: () => this.#post({ type: "names" }),
        chosen: (metrics) => this.#choose(metrics),
        chart,
      },
      theme,
    );
    for (const one of [...this.#learning.charts, ...this.#timeline.charts])
      if (this.#tables.has(one.id)) one.showTable(true);
    this.#views = new RangeButtons({
      zoomed: (range) => this.#zoom(range),
      released: () => this.#pin(null),
    });
    this.#timeline.head.append(this.#views.root, this.#controls.root);
    this.#rollouts = this.#makeRollouts();
    this.#lanes = this.#makeLanes(theme, left);
    this.#body.append(
      this.#header.root,
      this.#card.root,
      this.#header.numbers,
      element(
        "div",
        { class: "story" },
        element(
          "main",
          { class: "charts" },
          this.#learning.root,
          this.#timeline.root,
          this.#lanes.root,
          this.#metrics.root,
        ),
        this.#rollouts.root,
      ),
    );
    setShown(this.#body, false);
    root.append(this.#waiting, this.#body);
    onThemeChange(() => this.#retheme());
    window.addEventListener("scroll", () => this.#keep(), { passive: true });
    this.#post({ type: "ready", state: left });
  }

  get #cursor(): number | null {
    return this.#pointed ?? this.#pinned;
  }
  #post(message: Message): void {
    this.#host.post({ version: panelVersion, ...message });
  }

  #chartEvents(id: string) {
    return {
      pointed: (step: number | null) => this.#point(step),
      pinned: (step: number) => this.#pin(step),
      opened: (step: number) => this.#openRollouts(step),
      zoomed: (range: StepRange | null) => this.#zoom(range),
      tabled: (visible: boolean) => {
        if (visible) this.#tables.add(id);
        else this.#tables.delete(id);
        this.#keep();
      },
      saved: (file: { readonly title: string; readonly format: SaveFormat; readonly data: string }) =>
        this.#post({ type: "save", ...file }),
    };
  }

  #makeRollouts(): RolloutsView {
    return new RolloutsView({
      asked: (step) => this.#post({ type: "rollouts", step }),
      chosen: (place) => {
        this.#post({ type: "why", place });
        this.#keep();
      },
      closed: () => this.#keep(),
      pinned: (step) => this.#pin(step),
      cleared: () => {
        this.#lanes.clearBrush();
        this.#follow();
        this.#keep();
      },
      opened: (step) => this.#openRollouts(step),
    });
  }

  #makeLanes(theme: Theme, left: PanelState | null): LanesView {
    return new LanesView(
      {
        asked: (id, view) => this.#post({ type: "curriculum", id, view }),
        brushed: (brush) => {
          this.#brush(brush);
          this.#keep();
        },
        opened: () => this.#keep(),
        pointed: (step) => this.#point(step),
        stageMoved: (stage, was, steps) => this.#post({ type: "moveStage", stage, was, steps }),
      },
      theme,
      { path: left?.lanes ?? { family: null, arm: null }, brush: left?.brush ?? null },
    );
  }

  #receive(message: ToPanel): void {
    switch (message.type) {
      case "show":
        return this.#show(message);
      case "live":
        return this.#live(message);
      case "range": {
        const attempt = this.#facts?.run.summary.attempt;
        if (attempt === undefined) return;
        return this.#detail.answered(message.id, message.series, this.#range, attempt)
          ? this.#draw()
          : undefined;
      }
      case "names":
        return this.#metrics.list(message.names);
      case "metrics":
        this.#series.include(message.series);
        return this.#drawCharts();
      case "curriculum": {
        this.#lanes.show(message.id, message.overview);
        if (message.overview.arm !== null || message.overview.family !== null) return;
        this.#overview = message.overview;
        return this.#drawCharts();
      }
      case "brushed":
      case "rollouts":
      case "why":
        return this.#rollouts.answered(message);
      case "unanswered":
        return message.to === "curriculum"
          ? this.#lanes.unanswered(message.message)
          : this.#rollouts.unanswered(message.to, message.message);
      case "focus":
        this.#focus = message.chart;
        return this.#facts === null ? undefined : this.#bringToEye();
      case "link":
        return this.#header.setLink(message.link);
      case "gone":
        setShown(this.#waiting, this.#facts === null);
        this.#waiting.textContent = message.message;
        return this.#header.setGone(message.message);
    }
  }

  #show(message: Extract<ToPanel, { type: "show" }>): void {
    const begins = this.#facts === null;
    this.#series.load(message.series, message.run.summary.attempt);
    this.#detail.clear();
    this.#reduced = message.series.some((one) => one.total > one.steps.length);
    this.#facts = message;
    setShown(this.#waiting, false);
    setShown(this.#body, true);
    this.#timeline.reorder();
    this.#draw();
    if (begins) window.scrollTo(0, this.#scroll);
    this.#choose(this.#metrics.chosen);
    this.#refine();
    this.#openLeft();
    this.#bringToEye();
    this.#keep();
  }

  #live(message: Extract<ToPanel, { type: "live" }>): void {
    for (const step of message.steps) {
      const wanted = {
        ...step,
        metrics: Object.fromEntries(Object.entries(step.metrics).filter(([name]) => this.#wants(name))),
      };
      this.#series.merge(wanted);
      this.#detail.merge(wanted);
    }
    this.#facts = message;
    this.#draw();
    if (this.#detail.isStale) this.#refine();
    if (this.#cursor === null) this.#following.live();
  }

  /** What was listed before the window was loaded again; else the rollouts of the cursor's step. */
  #openLeft(): void {
    const [rollout, brush] = [this.#left, this.#started ? null : this.#lanes.brush];
    [this.#left, this.#started] = [null, true];
    if (brush !== null) this.#brush(brush, rollout);
    else if (rollout !== null) this.#look(rollout);
    else this.#following.now();
  }

  /** The outline passes: it says which, once. */
  #bringToEye(): void {
    const id = this.#focus;
    this.#focus = null;
    if (id === null) return;
    const chart = [...this.#learning.charts, ...this.#timeline.charts].find((one) => one.id === id);
    if (chart === undefined) return;
    if (chart.root.hidden) this.#timeline.reveal(id);
    pointOut(chart.root);
  }

  #view(facts: PanelFacts, series = this.#series): EventsView {
    return viewOf(facts, series, this.#overview);
  }

  #draw(): void {
    const facts = this.#facts;
    if (facts === null) return;
    const { run } = facts;
    const view = this.#view(facts);
    this.#body.classList.toggle("warming", warming(view));
    this.#header.update(view, facts, this.#cursor);
    this.#card.update(facts.verdict, run.summary.status);
    this.#drawCharts();
    this.#lanes.update(this.#framed(facts), run);
    this.#views.update(run, this.#range, this.#pinned);
    this.#rollouts.update(run.summary.step);
  }

  #drawCharts(): void {
    const facts = this.#facts;
    if (facts === null) return;
    const view = this.#view(facts, this.#detail.series ?? this.#series);
    const range = this.#framed(facts);
    const { x, scale: kind } = this.#controls.chosen;
    const [axis, scale, cursor] = [xAxisOf(x, this.#series), scaleOf(kind), this.#cursor];
    this.#controls.update(this.#series);
    this.#learning.update(view, range, axis, cursor);
    this.#timeline.update(view, range, { axis, scale, cursor });
    this.#metrics.update(view, range, axis, scale);
  }

  #wants(metric: string): boolean {
    return wantedMetric(metric) || this.#metrics.chosen.includes(metric);
  }
  /** Metrics of the list have charts: what is not known of them is asked for. */
  #choose(metrics: readonly string[]): void {
    const known = new Set(this.#series.names);
    const missing = metrics.filter((metric) => !known.has(metric));
    if (missing.length > 0) this.#post({ type: "metrics", metrics: missing });
    else this.#drawCharts();
  }
  #framed({ run }: PanelFacts): StepRange {
    return framed(run, Math.max(this.#series.last, run.summary.step), this.#range);
  }

  #retheme(): void {
    const theme = readTheme();
    this.#learning.setTheme(theme);
    this.#timeline.setTheme(theme);
    this.#metrics.setTheme(theme);
    this.#lanes.setTheme(theme);
  }

  #point(step: number | null): void {
    if (step === this.#pointed) return;
    this.#pointed = step;
    this.#moved();
  }
  /** The cursor stays at a step, or goes with the run again. */
  #pin(step: number | null): void {
    this.#pinned = step;
    // Where keys move it, it goes on from there, wherever the pointer is.
    this.#pointed = null;
    this.#moved();
    if (this.#facts !== null) this.#views.update(this.#facts.run, this.#range, step);
    this.#keep();
  }

  #moved(): void {
    const facts = this.#facts;
    const cursor = this.#cursor;
    const view = facts === null ? null : this.#view(facts);
    this.#learning.setCursor(cursor, view);
    this.#timeline.setCursor(cursor, view);
    this.#metrics.setCursor(cursor);
    this.#lanes.setCursor(cursor);
    if (view !== null && facts !== null) this.#header.update(view, facts, cursor);
    this.#following.soon();
  }

  /** The rollouts of the cursor's step, unless a person has marked others. */
  #follow(): void {
    const last = this.#facts?.run.summary.step ?? -1;
    if (last < 0 || this.#rollouts.brushed) return;
    this.#rollouts.follow(Math.min(last, this.#cursor ?? last));
  }

  /** One rollout, explained: the cursor goes to its step. */
  #look(place: RolloutPlace): void {
    this.#pinned = place.step;
    this.#rollouts.follow(place.step, place);
    this.#pin(place.step);
    this.#rollouts.root.scrollIntoView({ block: "nearest" });
  }

  #zoom(range: StepRange | null): void {
    this.#range = range;
    this.#refine();
    this.#draw();
    this.#keep();
  }
  #refine(): void {
    const reduced = this.#reduced || this.#series.width > 1;
    if (this.#facts !== null)
      this.#detail.want({ range: this.#range, smooth: this.#controls.chosen.smooth, reduced });
  }

  #brush(brush: Brush | null, rollout: RolloutPlace | null = null): void {
    if (brush === null) return this.#rollouts.closeBrush();
    this.#brushes++;
    this.#rollouts.openBrush(this.#brushes, brush, rollout);
    this.#post({ type: "brush", id: this.#brushes, brush });
  }

  #openRollouts(step: number | null): void {
    this.#post({ type: "act", action: "openRollouts", ...(step === null ? {} : { step }) });
  }

  #keep(): void {
    const run = this.#facts?.run.summary.id;
    if (run === undefined) return;
    this.#host.keep({
      run,
      range: this.#range,
      pinned: this.#pinned,
      scroll: window.scrollY,
      tables: [...this.#tables],
      rollout: this.#rollouts.chosen,
      lanes: this.#lanes.path,
      brush: this.#lanes.brush,
    });
  }
}
