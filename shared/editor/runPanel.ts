/** What the run panel's webview and its host in the extension say to each other. */
import type { Stack } from "../lib/buckets.ts";
import type {
  CurriculumOverview,
  EvaluationRow,
  Lane,
  ResultOf,
  RunSummary,
  Series,
  rewardErrors,
} from "../protocol/protocol.ts";
import type { ResponsePart } from "../rollouts/responseParts.ts";
import type { Why } from "../rollouts/why.ts";

/** Grows when a change is not additive; a message of another version is dropped, and the host reloads the webview. */
export const panelVersion = 1;

/** What the panel needs of a run's record besides its summary. */
export interface PanelRun {
  readonly summary: RunSummary;
  readonly stages: readonly { readonly step: number; readonly name: string; readonly kind: string }[];
  /** Every stage that the config plans, entered or not; empty where the config could not be read. */
  readonly planned: readonly {
    readonly name: string;
    readonly kind: string;
    readonly steps: number | null;
  }[];
  readonly checkpoints: readonly { readonly step: number }[];
  /** Rollouts in a group; null where unknown. */
  readonly group: number | null;
  readonly backendReason: string | null;
  /** How far the evaluation is that is under way, as a sentence. */
  readonly evaluating?: string;
}

/** What reward terms failed with. */
export type PanelFailures = Pick<ResultOf<typeof rewardErrors>, "failures" | "kinds" | "failed" | "rollouts">;

/** A rollout of the run. */
export interface RolloutPlace {
  readonly step: number;
  readonly group: string;
  readonly index: number;
}

/** A group of a step, as the panel lists it: numbers are null where there is none. */
export interface PanelGroup {
  /** Where the list is of several steps. */
  readonly step?: number;
  readonly group: string;
  readonly task: string;
  readonly arm: string;
  /** "in training", or why it was left out. */
  readonly verdict: string;
  readonly rollouts: readonly {
    readonly index: number;
    readonly reward: number | null;
    readonly advantage: number | null;
    /** None of its reward terms failed. */
    readonly sound: boolean;
  }[];
}

/** Which family of arms is opened on the lanes, and which arm; null: none. */
export interface LanesPath {
  readonly family: string | null;
  readonly arm: string | null;
}
/** What part of the groups the curriculum's lanes show. */
export interface CurriculumView extends LanesPath {
  /** auto: families, where arms have such, else arms. */
  readonly by: Lane | "auto";
  readonly from: number;
  readonly to: number;
}

/** Groups that a person has marked on the lanes. */
export interface Brush {
  readonly by: Lane;
  readonly from: number;
  readonly to: number;
  /** Arms, families or tasks; empty: all. */
  readonly names: readonly string[];
}

export type LinkState =
  | { readonly state: "live" }
  | { readonly state: "waiting"; readonly message: string }
  | { readonly state: "failed"; readonly message: string };

/** A step as it was committed: null where a value is not finite. */
export interface LiveStep {
  readonly step: number;
  readonly attempt: number;
  readonly metrics: Readonly<Record<string, number | null>>;
}

export type ToPanel = { readonly version: number } & (
  | {
      /** Everything, once after `ready` and again after a gap. */
      readonly type: "show";
      readonly run: PanelRun;
      readonly series: readonly Series[];
      readonly evaluations: readonly EvaluationRow[];
      /** Errors in the run's log that are of no reward term. */
      readonly errors: number;
      readonly failures?: PanelFailures;
    }
  | {
      /** What has happened since; at most ten a second. */
      readonly type: "live";
      readonly run: PanelRun;
      readonly steps: readonly LiveStep[];
      readonly evaluations: readonly EvaluationRow[];
      /** Errors in the run's log that are of no reward term. */
      readonly errors: number;
      readonly failures?: PanelFailures;
    }
  /** Answers `range`: the same metrics in finer detail over a part of the run. */
  | { readonly type: "range"; readonly id: number; readonly series: readonly Series[] }
  /** Answers `curriculum`. */
  | { readonly type: "curriculum"; readonly id: number; readonly overview: CurriculumOverview }
  /** Answers `rollouts`. */
  | {
      readonly type: "rollouts";
      readonly step: number;
      readonly groups: readonly PanelGroup[];
      /** Rollouts of the step that are not listed. */
      readonly more: number;
    }
  /** Answers `brush`. */
  | {
      readonly type: "brushed";
      readonly id: number;
      readonly groups: readonly PanelGroup[];
      readonly more: number;
    }
  /** Answers `why`. */
  | {
      readonly type: "why";
      readonly why: Why;
      readonly prompt: string;
      readonly response: string;
      /** What it is made of, where it was helped. */
      readonly parts?: readonly ResponsePart[];
      /** How it was helped, and what of it trains. */
      readonly help?: string;
      /** What models read in addition to the prompt, by name. */
      readonly shown?: Readonly<Record<string, string>>;
    }
  /** Instead of either: why there is no answer. */
  | { readonly type: "unanswered"; readonly to: "curriculum" | "rollouts" | "why"; readonly message: string }
  | { readonly type: "link"; readonly link: LinkState }
  /** Brings a chart into view and to the person's eye. */
  | { readonly type: "focus"; readonly chart: ChartId }
  | { readonly type: "gone"; readonly message: string }
);

export type PanelAction =
  | "stop"
  | "stopNow"
  | "pause"
  | "continue"
  | "resume"
  | "openConfig"
  | "openLog"
  | "openRollouts"
  | "reconnect"
  | "showOutput";

export type FromPanel = { readonly version: number } & (
  | { readonly type: "ready"; readonly state: PanelState | null }
  | { readonly type: "act"; readonly action: PanelAction; readonly step?: number }
  | {
      readonly type: "range";
      readonly id: number;
      readonly metrics: readonly string[];
      readonly from: number;
      readonly to: number;
    }
  | { readonly type: "curriculum"; readonly id: number; readonly view: CurriculumView }
  | { readonly type: "rollouts"; readonly step: number }
  | { readonly type: "brush"; readonly id: number; readonly brush: Brush }
  /** The end of a stage was dragged: its config shall give it this many steps. */
  | {
      readonly type: "moveStage";
      readonly stage: string;
      readonly was: number;
      readonly steps: number;
    }
  | { readonly type: "why"; readonly place: RolloutPlace }
  /** The line that threw, of those that `failures` names. */
  | { readonly type: "openPlace"; readonly file: string; readonly line: number; readonly column: number }
  | { readonly type: "failed"; readonly message: string }
);

/** What survives a reload of the window: a place in a run. The run itself is asked for again. */
export interface PanelState {
  readonly run: string;
  /** First and last step in view; null: the whole run. */
  readonly range: readonly [number, number] | null;
  readonly scroll: number;
  /** Charts shown as tables, by id. */
  readonly tables: readonly string[];
  /** The rollout that is explained, or null. */
  readonly rollout: RolloutPlace | null;
  /** What is opened on the curriculum's lanes, and what is marked there. */
  readonly lanes: LanesPath;
  readonly brush: Brush | null;
}

const record = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** A state that some version of the panel has left, or null if it is not one. */
export function readPanelState(value: unknown): PanelState | null {
  if (!record(value)) return null;
  const { run, range, scroll, tables, rollout, lanes, brush } = value;
  if (typeof run !== "string" || run === "") return null;
  const ends = Array.isArray(range) ? range.filter((end) => typeof end === "number") : [];
  const [from, to] = ends;
  return {
    run,
    range: from !== undefined && to !== undefined && from < to ? [from, to] : null,
    scroll: typeof scroll === "number" ? scroll : 0,
    tables: Array.isArray(tables) ? tables.filter((table) => typeof table === "string") : [],
    rollout: readPlace(rollout),
    lanes: readPath(lanes),
    brush: readBrush(brush),
  };
}

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);

function readPath(value: unknown): LanesPath {
  const { family, arm } = record(value) ? value : {};
  return { family: textOrNull(family), arm: textOrNull(arm) };
}

function readBrush(value: unknown): Brush | null {
  if (!record(value)) return null;
  const { by, from, to, names } = value;
  if (by !== "arm" && by !== "task" && by !== "family") return null;
  if (typeof from !== "number" || typeof to !== "number" || !Array.isArray(names)) return null;
  return { by, from, to, names: names.filter((name) => typeof name === "string") };
}

function readPlace(value: unknown): RolloutPlace | null {
  if (!record(value)) return null;
  const { step, group, index } = value;
  return typeof step === "number" && typeof group === "string" && typeof index === "number"
    ? { step, group, index }
    : null;
}

/** Buckets of a series at the most: some more than the widest chart has pixels. */
export const mostBuckets = 2_048;

/** Of these metrics, those that charts draw on top of one another. */
export function panelStacks(names: readonly string[]): readonly Stack[] {
  const stacks: readonly Stack[] = [
    {
      metrics: names.filter((name) => /^groups\/(all_right|mixed|all_wrong)$/.test(name)),
      absent: "unknown",
    },
    // An arm that a stage does not have was not drawn, and a phase that a step did not run took no time.
    { metrics: names.filter((name) => /^curriculum\/.+\/share$/.test(name)), absent: "zero" },
    { metrics: names.filter((name) => /^time\/(?!total$)/.test(name)), absent: "zero" },
  ];
  return stacks.filter(({ metrics }) => metrics.length > 1);
}

/** Every metric that the panel's charts and tiles read, of those that a run has recorded. */
export const wantedMetric = (name: string): boolean =>
  /^(reward\/|groups\/|curriculum\/.*\/(share|estimate|spread)$|policy\/entropy$|rollout\/|time\/|update\/(loss|grad_norm|clip_fraction|clip_low|clip_high|ess|anchor_kl)$|policy\/kl\/|mismatch\/|tokens\/generated$|memory\/(rss|peak|predicted)$)/.test(
    name,
  );

export type ChartId =
  | "reward"
  | "terms"
  | "weights"
  | "heldOut"
  | "criteria"
  | "groups"
  | "curriculum"
  | "estimate"
  | "admission"
  | "spent"
  | "entropy"
  | "length"
  | "time"
  | "update"
  | "clip"
  | "divergence"
  | "memory";

const chartsOfMetrics: readonly (readonly [RegExp, ChartId])[] = [
  [/^reward\/(?!total(\/|$))[^/]+(\/weight)?$/, "terms"],
  [/^reward\/(?!total\/).+\/(?!(?:errors|weight)$).+$/, "criteria"],
  [/^(reward\/|eval\/pass@1$)/, "reward"],
  [/^eval\/(pass@\d+|greedy)$/, "heldOut"],
  [/^groups\/(all_right|mixed|all_wrong)$/, "groups"],
  [/^curriculum\/.+\/share$/, "curriculum"],
  [/^curriculum\/.+\/(estimate|spread)$/, "estimate"],
  [/^groups\/(drawn|admitted)$/, "admission"],
  [/^policy\/entropy$/, "entropy"],
  [/^rollout\/(length|truncated)$/, "length"],
  [/^time\//, "time"],
  [/^update\/(loss|grad_norm)$/, "update"],
  [/^update\/(clip_\w+|ess)$/, "clip"],
  [/^(policy\/kl\/reference$|update\/anchor_kl$|mismatch\/)/, "divergence"],
  [/^memory\/(rss|peak|predicted)$/, "memory"],
];

/** The chart that shows a metric; undefined where none does. */
export const chartOf = (metric: string): ChartId | undefined =>
  chartsOfMetrics.find(([pattern]) => pattern.test(metric))?.[1];
