/** What the webview in which rollouts are labelled for a judge and its host in the extension say to each other. */
import type { JudgeReport } from "../rollouts/judgeReport.ts";
import type { LabelValue } from "../rollouts/labels.ts";

/** Grows when a change is not additive. */
export const judgeVersion = 1;

/** Without the judge's score: it stays hidden until all are labelled. */
export interface ShownRollout {
  readonly prompt: string;
  readonly response: string;
  readonly finish: string;
}

/** What a webview leaves for the next one of the same panel. */
export interface JudgeState {
  readonly run: string;
  readonly term: string;
  /** Of the run only this step; null: all. */
  readonly step: number | null;
}

interface Versioned {
  readonly version: number;
}
export type ToJudge = Versioned &
  (
    | {
        readonly type: "rollouts";
        readonly state: JudgeState;
        readonly name: string;
        /** The file of labels, as a person knows it. */
        readonly file: string;
        /** Labels of these rollouts that there were. */
        readonly before: number;
        readonly rollouts: readonly ShownRollout[];
      }
    /** The label is in the file; a message: it is not. */
    | { readonly type: "kept"; readonly at: number; readonly failure: string | null }
    | { readonly type: "report"; readonly report: JudgeReport }
    /** The judge is being asked. */
    | { readonly type: "asking" }
    | { readonly type: "failed"; readonly message: string }
  );
export type FromJudge = Versioned &
  (
    | { readonly type: "ready" }
    | { readonly type: "label"; readonly at: number; readonly value: LabelValue }
    /** All are labelled: the judge's scores next to the labels. */
    | { readonly type: "report"; readonly ask: boolean; readonly threshold: number | null }
    | { readonly type: "more" }
    | { readonly type: "openLabels" }
    | {
        readonly type: "openRollout";
        readonly run: string;
        readonly step: number;
        readonly group: string;
        readonly index: number;
      }
  );

/** What a panel left, checked; null: it says nothing that can be shown. */
export function readJudgeState(value: unknown): JudgeState | null {
  if (typeof value !== "object" || value === null) return null;
  const { run, term, step } = {
    run: null as unknown,
    term: null as unknown,
    step: null as unknown,
    ...value,
  };
  if (typeof run !== "string" || typeof term !== "string") return null;
  return { run, term, step: typeof step === "number" ? step : null };
}
