/** What the daemon and a thread that tries a reward say to each other. Plain data both ways. */
import type {
  GoldCount,
  ResultOf,
  RewardFinding,
  RewardHole,
  curriculumTest,
  rewardPin,
  rewardTest,
} from "../../../shared/protocol/protocol.ts";
import type { JudgeReport } from "../../../shared/rollouts/judgeReport.ts";
import type { LabelledRollout } from "../../../shared/rollouts/labels.ts";
import type { Expectation } from "../../../shared/rollouts/expectation.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import type { ThreadError } from "../threadError.ts";

export interface RewardTask {
  /** The config as it is. */
  readonly file: string;
  readonly text: string;
  /** Texts of files that are open in an editor, by their paths. */
  readonly unsaved: Readonly<Record<string, string>>;
  readonly want:
    | { readonly kind: "check"; readonly rollouts: readonly RolloutRow[] }
    | { readonly kind: "gold" }
    | { readonly kind: "attack"; readonly seconds: number }
    | { readonly kind: "pin"; readonly row: RolloutRow; readonly expect: Expectation }
    /** null: those that belong to the config. */
    | { readonly kind: "test"; readonly files: readonly string[] | null }
    | { readonly kind: "simulate"; readonly files: readonly string[] }
    | {
        readonly kind: "judge";
        readonly term: string;
        readonly labels: readonly LabelledRollout[];
        readonly threshold: number | undefined;
      };
}

export interface Attacked {
  readonly holes: readonly RewardHole[];
  readonly answers: number;
  readonly seconds: number;
  readonly file: string | null;
}

/** The last is `failed`, or what ends the thread. */
export type FromThread =
  | { readonly kind: "findings"; readonly findings: readonly RewardFinding[] }
  | { readonly kind: "note"; readonly note: string }
  | { readonly kind: "counted"; readonly counts: readonly GoldCount[] }
  | { readonly kind: "attacked"; readonly attacked: Attacked }
  | { readonly kind: "pinned"; readonly pinned: ResultOf<typeof rewardPin> }
  | { readonly kind: "tested"; readonly tested: ResultOf<typeof rewardTest> }
  | { readonly kind: "simulated"; readonly simulated: ResultOf<typeof curriculumTest> }
  | { readonly kind: "reported"; readonly reported: JudgeReport }
  | { readonly kind: "failed"; readonly error: ThreadError };

/** To the thread: it ends its processes, then itself. */
export const stop = "stop";
