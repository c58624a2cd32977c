/** What the main thread and the thread that scores rollouts again say to each other. Plain data both ways. */
import type { RecordPlace } from "../../../shared/log/recordAt.ts";
import type { RewardCoverage } from "../../../shared/rollouts/coverage.ts";
import type { Rescored, Sweep } from "../../../shared/rollouts/rescore.ts";
import type { ThreadError } from "../threadError.ts";

/** A run, as far as scoring its rollouts again needs it. */
export interface RunToRescore {
  readonly id: string;
  readonly name: string;
  /** `runs/<id>` */
  readonly folder: string;
  /** The config as its author wrote it. */
  readonly authored: string;
  readonly bundles: Readonly<Record<string, string>>;
}

export interface RescoreRequest {
  readonly run: RunToRescore;
  /** Steps with rollouts, ascending. */
  readonly steps: readonly number[];
  /** The config as it is. */
  readonly file: string;
  readonly text: string;
  /** `path=value`: edits on top of the text. */
  readonly set?: readonly string[];
  readonly trusted: boolean;
  /** Texts of files that are open in an editor, by their paths. */
  readonly unsaved: Readonly<Record<string, string>>;
  readonly want:
    /** Nothing yet: reads the last step and starts what an edit would have to wait for. */
    | { readonly kind: "warm" }
    | { readonly kind: "step" }
    | { readonly kind: "run" }
    | { readonly kind: "coverage" }
    | {
        readonly kind: "sweep";
        readonly term: string;
        readonly from: number | undefined;
        readonly to: number | undefined;
      };
}

/** What a request is answered with in addition to its parts. */
export interface RescoreAnswer {
  readonly sweep?: Sweep;
  readonly coverage?: RewardCoverage;
}

export type ToThread =
  | { readonly kind: "request"; readonly id: number; readonly request: RescoreRequest }
  | { readonly kind: "cancel"; readonly id: number }
  | { readonly kind: "places"; readonly id: number; readonly places: readonly RecordPlace[] }
  | ({ readonly kind: "no-places"; readonly id: number } & ThreadError)
  | { readonly kind: "close" };

export type FromThread =
  /** The last step, then more of the run. */
  | { readonly kind: "part"; readonly id: number; readonly rescored: Rescored }
  | { readonly kind: "swept"; readonly id: number; readonly sweep: Sweep }
  | { readonly kind: "covered"; readonly id: number; readonly coverage: RewardCoverage }
  | { readonly kind: "done"; readonly id: number }
  | { readonly kind: "cancelled"; readonly id: number }
  | ({ readonly kind: "failed"; readonly id: number } & ThreadError)
  | { readonly kind: "places?"; readonly id: number; readonly run: string; readonly step: number };
