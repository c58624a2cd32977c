/** What the run panel's webview and its host in the extension say to each other. */
import type { Stack } from "../lib/buckets.ts";
import type { CourseReport } from "../run/forecastReport.ts";
import type { Verdict } from "../run/verdict.ts";
import type {
  CurriculumOverview,
  EvaluationRow,
  Lane,
  ResultOf,
  RunSummary,
  Series,
  rewardErrors,
} from "../protocol/protocol.ts";
import type { Brush, LanesPath, PanelState, RolloutPlace } from "./panelState.ts";
import type { PanelTurnover } from "./panelTurnover.ts";
import type { ResponsePart } from "../rollouts/responseParts.ts";
import type { Why } from "../rollouts/why.ts";

export type { Brush, LanesPath, PanelState, RolloutPlace } from "./panelState.ts";

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
  /** Where the run was continued, and from which step. */
  readonly attempts?: readonly { readonly attempt: number; readonly from: number }[];
  readonly seed?: number | null;
  /** Short; with a plus where files had changed since. */
  readonly commit?: string | null;
  /** Rollouts in a group; null where unknown. */
  readonly group: number | null;
  /** What computes it, in words. */
  readonly device: string | null;
  /** How far the evaluation is that is under way, as a sentence. */
  readonly evaluating?: string;
}

/** What reward terms failed with. */
export type PanelFailures = Pick<ResultOf<typeof rewardErrors>, "failures" | "kinds" | "failed" | "rollouts">;

/** An evaluation, with what its tasks allow to be said. */
export interface PanelEvaluation extends Omit<EvaluationRow, "results"> {
  /** By metric, the 95 % interval over the tasks. */
  readonly intervals?: Readonly<Record<string, readonly [low: number, high: number]>>;
  /** Held-out tasks. */
  readonly tasks?: number;
}

/** Something of the run's log that its timeline shows. */
export interface PanelEvent {
  readonly step: number;
  readonly severity: "info" | "warning" | "error";
  readonly message: string;
  /** A live setting was changed. */
  readonly setting?: boolean;
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
  readonly prompt: string;
  /** Rollouts that were right, as the run counted them; null: it did not say. */
  readonly right: number | null;
  /** Some rollout has an advantage other than 0. */
  readonly signal: boolean;
  readonly rollouts: readonly {
    readonly index: number;
    /** The beginning of its response. */
    readonly text: string;
    /** Whether `text` is all of it. */
    readonly whole: boolean;
    /** By term, what it scored; null: the term does not apply. */
    readonly terms: Readonly<Record<string, number | null>>;
    readonly reward: number | null;
    readonly advantage: number | null;
    /** None of its reward terms failed. */
    readonly sound: boolean;
  }[];
}

/** What part of the groups the curriculum's lanes show. */
export interface CurriculumView extends LanesPath {
  /** auto: families, where arms have such, else arms. */
  readonly by: Lane | "auto";
  readonly from: number;
  readonly to: number;
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

/** The run of the same config before. */
export interface PanelBefore {
  readonly run: string;
  /** What differs, in a line. */
  readonly text: string;
}

/** What is known of a run apart from its series. */
export interface PanelFacts {
  readonly run: PanelRun;
  readonly evaluations: readonly PanelEvaluation[];
  /** Absent: fewer than two evaluations say how each task went. */
  readonly turnover?: PanelTurnover;
  /** Of held-out pass@1; absent: there are too few evaluations that differ. */
  readonly forecast?: CourseReport;
  /** Errors in the run's log that are of no reward term. */
  readonly errors: number;
  readonly failures?: PanelFailures;
  readonly events?: readonly PanelEvent[];
  /** Absent: there is none. */
  readonly before?: PanelBefore;
  /** null: it has none yet; absent: the daemon gives none. */
  readonly verdict?: Verdict | null;
}

export type ToPanel = { readonly version: number } & (
  | (PanelFacts & {
      /** Everything, once after `ready` and again after a gap. */
      readonly type: "show";
      readonly series: readonly Series[];
    })
  | (PanelFacts & {
      /** What has happened since; at most ten a second. */
      readonly type: "live";
      readonly steps: readonly LiveStep[];
    })
  /** Answers `range`: the same metrics in finer detail over a part of the run. */
  | { readonly type: "range"; readonly id: number; readonly series: readonly Series[] }
  /** Answers `names`. */
  | { readonly type: "names"; readonly names: readonly string[] }
  /** Answers `metrics`. */
  | { readonly type: "metrics"; readonly series: readonly Series[] }
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
  | "compareBefore"
  /** From `step`, or from a checkpoint that is chosen. */
  | "fork"
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
      /** Factor of a moving average; absent: none. */
      readonly smooth?: number;
    }
  /** Which metrics there are. */
  | { readonly type: "names" }
  /** Metrics that the panel does not draw unless they are chosen. */
  | { readonly type: "metrics"; readonly metrics: readonly string[] }
  | {
      readonly type: "save";
      readonly title: string;
      readonly format: "CSV" | "SVG" | "PNG";
      /** Text; of a PNG, base64. */
      readonly data: string;
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
  /** A fix of the verdict: its place in `verdict.fixes`. */
  | { readonly type: "fix"; readonly fix: number }
  /** The last right answer to a task that was forgotten, and the first wrong one; or all of it through training. */
  | { readonly type: "forgotten"; readonly task: string; readonly show: "diff" | "history" }
  /** The config shall practise what was forgotten. */
  | { readonly type: "review" }
  /** The verdict is wrong: the host asks why. */
  | { readonly type: "dismiss" }
  /** The line that threw, of those that `failures` names. */
  | { readonly type: "openPlace"; readonly file: string; readonly line: number; readonly column: number }
  | { readonly type: "failed"; readonly message: string }
);

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
  | "gold"
  | "turnover"
  | "criteria"
  | "groups"
  | "curriculum"
  | "estimate"
  | "admission"
  | "spent"
  | "entropy"
  | "length"
  | "versions"
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
  [/^eval\/reward\/[^/]+$/, "gold"],
  [/^groups\/(all_right|mixed|all_wrong)$/, "groups"],
  [/^curriculum\/.+\/share$/, "curriculum"],
  [/^curriculum\/.+\/(estimate|spread)$/, "estimate"],
  [/^groups\/(drawn|admitted)$/, "admission"],
  [/^policy\/entropy$/, "entropy"],
  [/^rollout\/(length(\/p\d+)?|truncated)$/, "length"],
  [/^rollout\/staleness(\/max)?$/, "versions"],
  [/^time\//, "time"],
  [/^update\/(loss|grad_norm)$/, "update"],
  [/^update\/(clip_\w+|ess)$/, "clip"],
  [/^(policy\/kl\/reference$|update\/anchor_kl$|mismatch\/)/, "divergence"],
  [/^memory\/(rss|peak|predicted)$/, "memory"],
];

/** The chart that shows a metric; undefined where none does. */
export const chartOf = (metric: string): ChartId | undefined =>
  chartsOfMetrics.find(([pattern]) => pattern.test(metric))?.[1];
