/** The parts of the panel, made and laid out: what each of them reports goes to the panel that holds their state. */
import type { PanelState } from "../../shared/editor/panelState.ts";
import type { Brush, FromPanel, RolloutPlace } from "../../shared/editor/runPanel.ts";
import { element, setShown } from "../shared/dom.ts";
import type { SaveFormat } from "../shared/saveMenu.ts";
import { readTheme } from "../shared/theme.ts";
import { LanesView } from "./curriculum/lanes.ts";
import { ForgottenTasks } from "./forgetting/forgotten.ts";
import { Header } from "./header.ts";
import { LearningCharts } from "./learning/learning.ts";
import { AllMetrics } from "./metrics/allMetrics.ts";
import { RolloutsView } from "./rollouts/rollouts.ts";
import { RangeButtons, type StepRange } from "./shownRange.ts";
import { Controls } from "./timeline/controls.ts";
import type { EventsView } from "./timeline/events.ts";
import { Timeline } from "./timeline/timeline.ts";
import { VerdictCard } from "./verdict/card.ts";

export type Message = {
  [Type in FromPanel["type"]]: Omit<Extract<FromPanel, { type: Type }>, "version">;
}[FromPanel["type"]];

/** What a person does in a part, where another part or the host has to know. */
export interface PanelActs {
  readonly post: (message: Message) => void;
  /** The pointer is on a step, or has left. */
  readonly point: (step: number | null) => void;
  /** The cursor shall stay at a step; null: go with the run again. */
  readonly pin: (step: number | null) => void;
  readonly zoom: (range: StepRange | null) => void;
  /** A rollout is looked at: it is shown and explained. */
  readonly look: (place: RolloutPlace) => void;
  /** The rollouts of a step as a document; null: of the cursor's step. */
  readonly openRollouts: (step: number | null) => void;
  readonly brush: (brush: Brush | null) => void;
  readonly brushCleared: () => void;
  readonly table: (id: string, visible: boolean) => void;
  /** How curves are drawn has changed. */
  readonly restyled: () => void;
  /** Other lanes are drawn than before. */
  readonly unfolded: () => void;
  readonly choose: (metrics: readonly string[]) => void;
  /** What a reload restores has changed. */
  readonly keep: () => void;
}

export interface Parts {
  readonly header: Header;
  readonly card: VerdictCard;
  readonly learning: LearningCharts;
  readonly timeline: Timeline;
  readonly forgotten: ForgottenTasks;
  readonly controls: Controls;
  readonly metrics: AllMetrics;
  readonly lanes: LanesView;
  readonly rollouts: RolloutsView;
  readonly views: RangeButtons;
  /** All of them; hidden until there is a run. */
  readonly body: HTMLElement;
}

/** @param left the panel's state before the window was loaded again */
export function makeParts(acts: PanelActs, left: PanelState | null): Parts {
  const theme = readTheme();
  const chart = (id: string) => chartEvents(acts, id);
  const timeline = new Timeline({ chart, pinned: acts.pin, changed: acts.unfolded }, theme);
  const parts = {
    header: new Header(
      (action, step) => acts.post({ type: "act", action, ...(step === undefined ? {} : { step }) }),
      () => acts.openRollouts(null),
      (place) => acts.post({ type: "openPlace", ...place }),
    ),
    card: new VerdictCard({
      looked: ({ step, group, index }) => acts.look({ step, group, index }),
      pinned: acts.pin,
      fixed: (fix) => acts.post({ type: "fix", fix }),
      dismissed: () => acts.post({ type: "dismiss" }),
    }),
    learning: new LearningCharts(chart, theme),
    timeline,
    forgotten: new ForgottenTasks({
      compared: (task) => acts.post({ type: "forgotten", task, show: "diff" }),
      followed: (task) => acts.post({ type: "forgotten", task, show: "history" }),
      reviewed: () => acts.post({ type: "review" }),
    }),
    controls: new Controls(acts.restyled),
    metrics: new AllMetrics({ asked: () => acts.post({ type: "names" }), chosen: acts.choose, chart }, theme),
    lanes: new LanesView(
      {
        asked: (id, view) => acts.post({ type: "curriculum", id, view }),
        brushed: acts.brush,
        opened: acts.keep,
        pointed: acts.point,
        stageMoved: (stage, was, steps) => acts.post({ type: "moveStage", stage, was, steps }),
      },
      theme,
      { path: left?.lanes ?? { family: null, arm: null }, brush: left?.brush ?? null },
    ),
    rollouts: makeRollouts(acts),
    views: new RangeButtons({ zoomed: acts.zoom, released: () => acts.pin(null) }),
  };
  return { ...parts, body: laidOut(parts) };
}

function chartEvents(acts: PanelActs, id: string) {
  return {
    pointed: acts.point,
    pinned: acts.pin,
    opened: acts.openRollouts,
    zoomed: acts.zoom,
    tabled: (visible: boolean) => acts.table(id, visible),
    saved: (file: { readonly title: string; readonly format: SaveFormat; readonly data: string }) =>
      acts.post({ type: "save", ...file }),
  };
}

const makeRollouts = ({ post, keep, pin, brushCleared, openRollouts }: PanelActs): RolloutsView =>
  new RolloutsView({
    asked: (step) => post({ type: "rollouts", step }),
    chosen: (place) => {
      post({ type: "why", place });
      keep();
    },
    closed: keep,
    pinned: pin,
    cleared: brushCleared,
    opened: openRollouts,
  });

function laidOut({
  header,
  card,
  learning,
  timeline,
  forgotten,
  controls,
  metrics,
  lanes,
  rollouts,
  views,
}: Omit<Parts, "body">): HTMLElement {
  timeline.head.append(views.root, controls.root);
  const charts = element(
    "main",
    { class: "charts" },
    ...[learning, timeline, forgotten, lanes, metrics].map(({ root }) => root),
  );
  const body = element(
    "div",
    { class: "body" },
    header.root,
    card.root,
    header.numbers,
    element("div", { class: "story" }, charts, rollouts.root),
  );
  setShown(body, false);
  return body;
}

export function retheme({ learning, timeline, metrics, lanes }: Parts): void {
  const theme = readTheme();
  for (const part of [learning, timeline, metrics, lanes]) part.setTheme(theme);
}

/** One cursor for all charts. @param view null: there is no run yet */
export function setCursor(parts: Parts, step: number | null, view: EventsView | null): void {
  parts.learning.setCursor(step, view);
  parts.timeline.setCursor(step, view);
  parts.metrics.setCursor(step);
  parts.lanes.setCursor(step);
}
