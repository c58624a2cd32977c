/** What the parts of a step hand on to each other, and what a stage gives them: types only, so that none needs another. */
import type { ReplayConfig, CreateContext } from "../../core/config/resolved.ts";
import type { ReplaySource, Rescore, Selection } from "../../core/slots/replay.ts";
import type { UpdatePlan, UpdateStats, Stats } from "../../core/policy.ts";
import type { Memory } from "../../methods/replay/memory.ts";
import type { LossPart } from "./parts.ts";
import type { Algorithm } from "../../algorithm/algorithm.ts";
import type { Curriculum } from "../../algorithm/curriculum/curriculum.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import type { Branching } from "../../core/slots/branching.ts";
import type { EpisodeShape } from "../../core/slots/episodes.ts";
import type { Scorer } from "../../algorithm/rewards/scoring.ts";
import type { Calibration } from "./calibration.ts";
import type { Task } from "../../core/task.ts";
import type { Start } from "../../core/slots/guidance.ts";
import type { Group, Batch } from "../../core/rollouts.ts";
import type { Guide } from "./rollouts/guidance.ts";
import type { Scored } from "../../algorithm/rewards/rewards.ts";
import type { Verdict } from "../../core/slots/curriculum.ts";
import type { Clock } from "../../core/basics.ts";
import type { Session } from "../loop/session.ts";
import type { Stopwatch } from "./timing.ts";
import type { Advantages } from "../../algorithm/advantages/tokenAdvantages.ts";
import type { Training } from "./training.ts";
import type { KeptRow } from "../../methods/replay/keptRow.ts";

export interface Stage {
  readonly config: StageConfig;
  /** What its methods are made with. */
  readonly context: CreateContext;
  readonly algorithm: Algorithm;
  readonly curriculum: Curriculum;
  readonly scorer: Scorer;
  readonly replay: StepReplay;
  readonly auxiliary: StepAuxiliary;
  /** undefined: no rollout is helped. */
  readonly guide: Guide | undefined;
  readonly start: Start;
  /** One response, or several attempts with something said between. */
  readonly shape: EpisodeShape;
  /** undefined: every rollout begins where its task does. */
  readonly branching: Branching | undefined;
  /** The run's own, whatever the stage. */
  readonly calibration: Calibration;
  /** What the stage before draws its tasks with, while this one passes over from it. */
  readonly fading: Curriculum | undefined;
  /** Hard tasks of earlier stages, and the share of prompts that they are. */
  readonly carried: { readonly share: number; readonly candidates: readonly Carried[] } | undefined;
  /** Takes note of what became of a step's tasks, for stages that carry them over. */
  remember(groups: readonly Group[]): void;
}

/** A task of an earlier stage, with what it is drawn by. */
export interface Carried {
  readonly task: Task;
  readonly weight: number;
}

/** Everything that was generated in a step, admitted or not; the mask slot has been applied. */
export interface Collected {
  readonly batch: Batch;
  readonly scored: Scored;
  readonly groups: readonly Group[];
  /** One per group. */
  readonly verdicts: readonly Verdict[];
  /** Rows of the admitted groups that count. */
  readonly admitted: readonly number[];
  /** Rows of the admitted groups that selection keeps from training. */
  readonly dropped: ReadonlySet<number>;
  readonly rounds: number;
  /** Channels that the advantage reads, once they were scored. */
  readonly judgements?: Stats;
  /** What help did, round by round, where rollouts may have help. */
  readonly guidance?: readonly GuidanceTally[];
}

/** Where a step happens, and what it is measured by. */
export interface Place {
  readonly session: Session;
  readonly stage: Stage;
  readonly clock: Clock;
  /** Number of the step in the log. */
  readonly step: number;
  readonly watch: Stopwatch;
}

/** What plain rollouts did, whether or not they stayed, and what help cost. */
export interface GuidanceTally {
  readonly groups: number;
  readonly helped: number;
  readonly plain: number;
  readonly plain_successes: number;
  /** Tokens of rollouts that were replaced, and of what models wrote as help. */
  readonly extra_tokens: number;
}

/** Columns of generation, and the log-probs of other models under `logp:<model>`, for every row that needs them. */
export interface Compared {
  readonly all: Stats;
  readonly train: Stats;
}

export interface StepAdvantages {
  readonly train: Training;
  /** Of every row, rejected ones included: what the curriculum observes and the log keeps. */
  readonly all: Advantages;
}

/** What was replayed in a step, for the log and the metrics. */
export interface Replayed {
  readonly training: Training;
  readonly rows: readonly KeptRow[];
}

/** Earlier rollouts of a stage: what a step remembers, and what it takes of them. */
export interface StepReplay {
  readonly config: ReplayConfig;
  readonly source: ReplaySource;
  readonly rescore: Rescore;
  readonly selection: Selection;
  readonly memory: Memory;
  keep(place: Place, collected: Collected, advantages: StepAdvantages): void;
  drawn(
    place: Place,
    own: { readonly fresh: number; readonly batch: Batch },
    round: number,
  ): Promise<Replayed | undefined>;
}

/** Losses beside the objective: what each step tells them, and what they add to its updates. */
export interface StepAuxiliary {
  notice(place: Place, collected: Collected, advantages: StepAdvantages): Promise<void>;
  learn(place: Place, collected: Collected): Promise<Record<string, number>>;
  fit(place: Place, advantages: StepAdvantages): Promise<Record<string, number>>;
  joined(place: Place): LossPart[];
  alone(place: Place): Promise<UpdateStats[]>;
  factor(name: string): number;
  privacy(place: Place): Pick<UpdatePlan, "per_sequence_clip" | "noise">;
  learned(updates: readonly UpdateStats[]): void;
  measure(): Record<string, number>;
}
