/** What the parts of a step hand on to each other, and what a stage gives them: types only, so that none needs another. */
import type { ReplayConfig } from "../../core/config/resolved.ts";
import type { ReplaySource, Rescore, Selection } from "../../core/slots/replay.ts";
import type { UpdatePlan, UpdateStats, Stats } from "../../core/policy.ts";
import type { Memory } from "../../methods/replay/memory.ts";
import type { LossPart } from "./update/lossParts.ts";
import type { Algorithm } from "../../algorithm/algorithm.ts";
import type { Curriculum } from "../../algorithm/curriculum/curriculum.ts";
import type { CarriedOver } from "../../algorithm/curriculum/stageDraw.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import type { Branching } from "../../core/slots/branching.ts";
import type { EpisodeShape } from "../../core/slots/episodes.ts";
import type { EpisodeHosts } from "../environments/episodeHosts.ts";
import type { Harness } from "../harness/harness.ts";
import type { Scorer } from "../../algorithm/rewards/scoring.ts";
import type { Calibration } from "./score/calibration.ts";
import type { Start } from "../../core/slots/guidance.ts";
import type { Group, Batch } from "../../core/rollouts.ts";
import type { Guide } from "./help/guide.ts";
import type { Scores } from "../../algorithm/rewards/rewards.ts";
import type { RewardColumn } from "../../core/reward.ts";
import type { DrawnGroup } from "./generate/generate.ts";
import type { Verdict } from "../../core/slots/curriculum.ts";
import type { Clock, Model } from "../../core/basics.ts";
import type { Session } from "../loop/session.ts";
import type { Stopwatch } from "./stopwatch.ts";
import type { Advantages } from "../../algorithm/advantages/tokenAdvantages.ts";
import type { Training } from "./update/training.ts";
import type { KeptRow } from "../../methods/replay/keptRow.ts";
import type { CreateContext } from "../../core/declaration.ts";

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
  /** Environments and tools, where the shape asks for them. */
  readonly hosts: EpisodeHosts | undefined;
  /** undefined: the engine plays. */
  readonly harness: Harness | undefined;
  /** undefined: every rollout begins where its task does. */
  readonly branching: Branching | undefined;
  /** The run's own, whatever the stage. */
  readonly calibration: Calibration;
  /** What the stage before draws its tasks with, while this one passes over from it. */
  readonly fading: Curriculum | undefined;
  /** Hard tasks of earlier stages, and the share of prompts that they are. */
  readonly carried: CarriedOver | undefined;
  /** Takes note of what became of a step's tasks, for stages that carry them over. */
  remember(groups: readonly Group[]): void;
}

/** What the parts of a step share. */
export interface StepContext {
  readonly session: Session;
  readonly stage: Stage;
  readonly clock: Clock;
  /** Number of the step in the log. */
  readonly step: number;
  readonly watch: Stopwatch;
}

/** Phase 1, a round's draw: tasks with the names of their groups and the states that their rollouts start from. */
export interface Drawn {
  /** How many tasks were drawn; screening may have left fewer groups. */
  readonly tasks: number;
  readonly groups: readonly DrawnGroup[];
}

/** Phase 2, a round's rollouts: generated, masked and scored by the terms that need no learner. */
export interface Scored {
  readonly batch: Batch;
  /** One per reward term. */
  readonly columns: RewardColumn[];
  /** What help did; absent where no rollout may have help. */
  readonly guidance?: GuidanceTally;
}

/** Phase 3, all rounds of a step: every rollout, admitted or not. */
export interface Admitted {
  readonly batch: Batch;
  readonly scored: Scores;
  readonly groups: readonly Group[];
  /** One per group. */
  readonly verdicts: readonly Verdict[];
  /** Rows of the admitted groups that count. */
  readonly admitted: readonly number[];
  /** Round by round; empty where no rollout may have help. */
  readonly guidance: readonly GuidanceTally[];
}

/** The same with the channels that the advantage reads, scored before anything has trained. */
export interface Valued extends Admitted {
  readonly criticValues: Stats;
}

/** Phase 4: the same with the rows chosen that train. */
export interface Selected extends Valued {
  /** Rows of the admitted groups that selection keeps from training. */
  readonly dropped: ReadonlySet<number>;
}

/** Phase 5: the step after its updates. */
export interface Trained {
  readonly updates: readonly UpdateStats[];
  readonly replayed: readonly Replayed[];
  readonly metrics: Readonly<Record<string, number>>;
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
export interface ModelScores {
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
  keep(context: StepContext, selected: Selected, advantages: StepAdvantages): void;
  draw(
    context: StepContext,
    own: { readonly fresh: number; readonly batch: Batch },
    round: number,
  ): Promise<Replayed | undefined>;
}

/** What a model wrote for the tasks that join a step, and what became of it. */
export interface AuthorTexts {
  readonly model: Model;
  readonly step: number;
  /** A text a row, a request a group. */
  readonly batch: Batch;
  /** Row → its task; null: evaluation asks that one, so nothing is known of it; missing: no task was in the text. */
  readonly tasks: ReadonlyMap<number, string | null>;
}

/** Losses in addition to the objective: what they learn of each step, and what they add to its updates. */
export interface StepAuxiliary {
  /** Takes texts whose authors may learn from what their tasks earn. */
  wrote(texts: AuthorTexts): void;
  notice(context: StepContext, selected: Selected, advantages: StepAdvantages): Promise<void>;
  learn(context: StepContext, admitted: Admitted): Promise<Record<string, number>>;
  fit(context: StepContext, advantages: StepAdvantages): Promise<Record<string, number>>;
  balance(context: StepContext, selected: Selected, train: Training): void;
  joined(context: StepContext): LossPart[];
  alone(context: StepContext): Promise<UpdateStats[]>;
  factor(name: string): number;
  privacy(context: StepContext): Pick<UpdatePlan, "per_sequence_clip" | "noise">;
  learned(updates: readonly UpdateStats[]): void;
  measure(): Record<string, number>;
}
