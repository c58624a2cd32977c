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
import { element, pointOut, setShown } from "../shared/dom.ts";
import { connect, type Host } from "../shared/messaging.ts";
import { RunSeries } from "../shared/series.ts";
import { onThemeChange } from "../shared/theme.ts";
import { Detail } from "./detail.ts";
import { warming } from "./models.ts";
import { makeParts, retheme, setCursor, type Message, type Parts } from "./parts.ts";
import { Following } from "./rollouts/following.ts";
import { framed, type StepRange } from "./shownRange.ts";
import { viewOf, type EventsView } from "./timeline/events.ts";
import { scaleOf } from "./timeline/scale.ts";
import { xAxisOf } from "./timeline/xAxes.ts";

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
  readonly #parts: Parts;
  readonly #waiting = element("p", { class: "waiting", role: "status" }, "Loading the run…");
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
    this.#parts = this.#makeParts(left);
    const { learning, timeline, body } = this.#parts;
    for (const one of [...learning.charts, ...timeline.charts])
      if (this.#tables.has(one.id)) one.showTable(true);
    root.append(this.#waiting, body);
    onThemeChange(() => retheme(this.#parts));
    window.addEventListener("scroll", () => this.#keep(), { passive: true });
    this.#post({ type: "ready", state: left });
  }

  get #cursor(): number | null {
    return this.#pointed ?? this.#pinned;
  }
  #post(message: Message): void {
    this.#host.post({ version: panelVersion, ...message });
  }

  #makeParts(left: PanelState | null): Parts {
    return makeParts(
      {
        post: (message) => this.#post(message),
        point: (step) => this.#point(step),
        pin: (step) => this.#pin(step),
        zoom: (range) => this.#zoom(range),
        look: (place) => this.#look(place),
        openRollouts: (step) => this.#openRollouts(step ?? this.#cursor),
        brush: (brush) => {
          this.#brush(brush);
          this.#keep();
        },
        brushCleared: () => {
          this.#parts.lanes.clearBrush();
          this.#follow();
          this.#keep();
        },
        table: (id, visible) => {
          if (visible) this.#tables.add(id);
          else this.#tables.delete(id);
          this.#keep();
        },
        restyled: () => {
          this.#refine();
          this.#draw();
        },
        unfolded: () => this.#drawCharts(),
        choose: (metrics) => this.#choose(metrics),
        keep: () => this.#keep(),
      },
      left,
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
        return this.#parts.metrics.list(message.names);
      case "metrics":
        this.#series.include(message.series);
        return this.#drawCharts();
      case "curriculum": {
        this.#parts.lanes.show(message.id, message.overview);
        if (message.overview.arm !== null || message.overview.family !== null) return;
        this.#overview = message.overview;
        return this.#drawCharts();
      }
      case "brushed":
      case "rollouts":
      case "why":
        return this.#parts.rollouts.answered(message);
      case "unanswered":
        return message.to === "curriculum"
          ? this.#parts.lanes.unanswered(message.message)
          : this.#parts.rollouts.unanswered(message.to, message.message);
      case "focus":
        this.#focus = message.chart;
        return this.#facts === null ? undefined : this.#bringToEye();
      case "link":
        return this.#parts.header.setLink(message.link);
      case "gone":
        setShown(this.#waiting, this.#facts === null);
        this.#waiting.textContent = message.message;
        return this.#parts.header.setGone(message.message);
    }
  }

  #show(message: Extract<ToPanel, { type: "show" }>): void {
    const begins = this.#facts === null;
    this.#series.load(message.series, message.run.summary.attempt);
    this.#detail.clear();
    this.#reduced = message.series.some((one) => one.total > one.steps.length);
    this.#facts = message;
    setShown(this.#waiting, false);
    setShown(this.#parts.body, true);
    this.#parts.timeline.reorder();
    this.#draw();
    if (begins) window.scrollTo(0, this.#scroll);
    this.#choose(this.#parts.metrics.chosen);
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
    const [rollout, brush] = [this.#left, this.#started ? null : this.#parts.lanes.brush];
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
    const chart = [...this.#parts.learning.charts, ...this.#parts.timeline.charts].find(
      (one) => one.id === id,
    );
    if (chart === undefined) return;
    if (chart.root.hidden) this.#parts.timeline.reveal(id);
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
    this.#parts.body.classList.toggle("warming", warming(view));
    this.#parts.header.update(view, facts, this.#cursor);
    this.#parts.card.update(facts.verdict, run.summary.status);
    this.#drawCharts();
    this.#parts.forgotten.update(facts.turnover);
    this.#parts.lanes.update(this.#framed(facts), run);
    this.#parts.views.update(run, this.#range, this.#pinned);
    this.#parts.rollouts.update(run.summary.step);
  }

  #drawCharts(): void {
    const facts = this.#facts;
    if (facts === null) return;
    const view = this.#view(facts, this.#detail.series ?? this.#series);
    const range = this.#framed(facts);
    const { x, scale: kind } = this.#parts.controls.chosen;
    const [axis, scale, cursor] = [xAxisOf(x, this.#series), scaleOf(kind), this.#cursor];
    this.#parts.controls.update(this.#series);
    this.#parts.learning.update(view, range, axis, cursor);
    this.#parts.timeline.update(view, range, { axis, scale, cursor });
    this.#parts.metrics.update(view, range, axis, scale);
  }

  #wants(metric: string): boolean {
    return wantedMetric(metric) || this.#parts.metrics.chosen.includes(metric);
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
    if (this.#facts !== null) this.#parts.views.update(this.#facts.run, this.#range, step);
    this.#keep();
  }

  #moved(): void {
    const facts = this.#facts;
    const cursor = this.#cursor;
    const view = facts === null ? null : this.#view(facts);
    setCursor(this.#parts, cursor, view);
    if (view !== null && facts !== null) this.#parts.header.update(view, facts, cursor);
    this.#following.soon();
  }

  /** The rollouts of the cursor's step, unless a person has marked others. */
  #follow(): void {
    const last = this.#facts?.run.summary.step ?? -1;
    if (last < 0 || this.#parts.rollouts.brushed) return;
    this.#parts.rollouts.follow(Math.min(last, this.#cursor ?? last));
  }

  /** One rollout, explained: the cursor goes to its step. */
  #look(place: RolloutPlace): void {
    this.#pinned = place.step;
    this.#parts.rollouts.follow(place.step, place);
    this.#pin(place.step);
    this.#parts.rollouts.root.scrollIntoView({ block: "nearest" });
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
      this.#detail.want({ range: this.#range, smooth: this.#parts.controls.chosen.smooth, reduced });
  }

  #brush(brush: Brush | null, rollout: RolloutPlace | null = null): void {
    if (brush === null) return this.#parts.rollouts.closeBrush();
    this.#brushes++;
    this.#parts.rollouts.openBrush(this.#brushes, brush, rollout);
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
      rollout: this.#parts.rollouts.chosen,
      lanes: this.#parts.lanes.path,
      brush: this.#parts.lanes.brush,
    });
  }
}
