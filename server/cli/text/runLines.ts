/** What `gradus run` and `gradus runs follow` say about a run as it goes: the same events as JSON lines, plain lines or a live picture. */
import type { Verdict } from "../../../shared/run/verdict.ts";
import type { RunWarning } from "../../../shared/run/outcome.ts";
import type { StageKind } from "../../../shared/run/stageKinds.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";

export type Metrics = Readonly<Record<string, number | null>>;
export type EvaluationMetrics = Readonly<Record<string, number>>;

export interface PlannedStage {
  readonly name: string;
  readonly kind: StageKind;
  readonly steps: number;
}

export type RunLine =
  | {
      readonly type: "started";
      readonly run: string;
      readonly name: string;
      readonly file: string;
      readonly folder: string;
      readonly steps: number;
      readonly backend: string | null;
      readonly backendReason: string | null;
      readonly stages: readonly PlannedStage[];
    }
  | { readonly type: "stage"; readonly step: number; readonly name: string; readonly kind: string }
  | { readonly type: "step"; readonly step: number; readonly metrics: Metrics }
  | {
      readonly type: "event";
      readonly step: number;
      readonly severity: "info" | "warning" | "error";
      readonly name: string;
      readonly message: string;
      readonly action: string | null;
    }
  | {
      readonly type: "evaluation";
      readonly step: number;
      readonly role: "first" | "periodic" | "last";
      readonly metrics: EvaluationMetrics;
    }
  | {
      readonly type: "summary";
      readonly run: string;
      readonly status: "finished" | "stopped" | "failed";
      readonly steps: number;
      readonly message: string | null;
      readonly evaluation: {
        readonly first: EvaluationMetrics | null;
        readonly last: EvaluationMetrics | null;
      };
      readonly seconds: number;
      readonly folder: string;
      readonly resume: string | null;
      /** What is wrong with what it came to, the most serious first; absent: nothing that its numbers tell. */
      readonly warnings?: readonly RunWarning[];
      /** Whether it learned, and if not, why; absent: it made no training step. */
      readonly verdict?: Verdict;
    };

export type CompletionRow = Pick<RolloutRow, "prompt" | "response" | "reward" | "finish">;

/** Shows a run. `completions` are a few rollouts of the last step, for those that show them. */
export interface RunReporter {
  readonly wantsCompletions: boolean;
  line(line: RunLine): void;
  completions(rows: readonly CompletionRow[]): void;
  /** Something to tell the person that is not of the run: how to detach, what was asked for. */
  say(text: string): void;
}
