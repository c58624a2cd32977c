/** What the webview that compares runs and its host in the extension say to each other. */
import type { ResultOf, runsForecast } from "../protocol/protocol.ts";
import type { BoundaryReport } from "../run/boundaryReport.ts";
import type { Comparison } from "../run/comparison.ts";

/** Grows when a change is not additive. */
export const compareVersion = 1;

/** A held-out task that the first run of two groups answered at their last evaluations. */
export interface TaskPair {
  readonly key: string;
  readonly prompt: string;
  /** Of the first group, then of the other; null: not scored. */
  readonly rewards: readonly [number | null, number | null];
  readonly responses: readonly [string, string];
}

/** What a webview leaves for the next one of the same panel. */
export interface CompareState {
  readonly runs: readonly string[];
  /** Charts shown as tables. */
  readonly tables: readonly string[];
  /** The group whose answers are shown next to the first one's. */
  readonly other: number;
}

/** An evaluation of a run; without a step its last one. */
export interface WantedEvaluation {
  readonly run: string;
  readonly step?: number;
}

/** Where the two runs are going; null: too few values. */
export type PanelForecasts = ResultOf<typeof runsForecast>;

interface Versioned {
  readonly version: number;
}
export type ToCompare = Versioned &
  (
    | { readonly type: "comparison"; readonly comparison: Comparison }
    | { readonly type: "tasks"; readonly other: number; readonly pairs: readonly TaskPair[] }
    /** Answers `boundary`; with a reason where there is none. */
    | {
        readonly type: "boundary";
        readonly report: BoundaryReport | null;
        readonly reason?: string;
        readonly forecasts?: PanelForecasts;
      }
    | { readonly type: "failed"; readonly message: string }
  );
export type FromCompare = Versioned &
  (
    | { readonly type: "ready" }
    /** Whether a point of a chart is the mean of some steps, or of one. */
    | { readonly type: "smooth"; readonly smooth: boolean }
    | { readonly type: "openRun"; readonly run: string }
    /** The native diff editor on the configs of two runs: as written, or as resolved. */
    | { readonly type: "diffConfigs"; readonly runs: readonly [string, string]; readonly resolved: boolean }
    | { readonly type: "diffSource"; readonly runs: readonly [string, string]; readonly path: string }
    | { readonly type: "diffTask"; readonly other: number; readonly key: string }
    | { readonly type: "tasks"; readonly other: number }
    /** What the models of two evaluations can do: `own` against `other`. */
    | { readonly type: "boundary"; readonly own: WantedEvaluation; readonly other: WantedEvaluation }
    /** The runs in another order: the group of the first is what the others are compared with. */
    | { readonly type: "order"; readonly runs: readonly string[] }
  );

/** What a panel left, checked; null: it says nothing that can be shown. */
export function readCompareState(value: unknown): CompareState | null {
  if (typeof value !== "object" || value === null || !("runs" in value) || !Array.isArray(value.runs))
    return null;
  const runs = value.runs.filter((run: unknown): run is string => typeof run === "string");
  if (runs.length === 0) return null;
  const { tables, other } = { tables: undefined as unknown, other: undefined as unknown, ...value };
  return {
    runs,
    tables: Array.isArray(tables)
      ? tables.filter((one: unknown): one is string => typeof one === "string")
      : [],
    other: typeof other === "number" && other > 0 ? other : 1,
  };
}
