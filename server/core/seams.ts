/**
 * The types every slot shares, and nothing else.
 *
 * Data flows in one direction:
 *   config → tasks → curriculum → rollout (+ guidance) → reward → advantage → objective (+ kl, mask, replay)
 *   → policy.update → run log
 *
 * A batch is a set of columns: typed arrays with row offsets plus one small record per row. There is never an
 * object per token. Columns of a batch cover every token *after the first prompt* of a row, observations and
 * given prefixes included. Row `i` occupies `offsets[i] … offsets[i + 1]` of every token column.
 */
import type { Random } from "../lib/random.ts";
import type { JudgedCriterion } from "../../shared/criteria.ts";
import type { Json } from "../../shared/json.ts";
import type { States } from "./states.ts";
import type { OptimizerChoice } from "./declaration.ts";
import type { Task } from "./slots/tasks.ts";
import type { GuidedRecord } from "./slots/guidance.ts";
import type { TermValue, TextSpans } from "./slots/reward.ts";
import type { Turn } from "./slots/turn.ts";

// ───────────────────────────────────────────────────────────────── words

/** A set of tasks the curriculum chooses between, written `<task name>/<value>` or `<task name>`. */
export type Arm = string;

/** Where in a run something happens. Top-level schedules read `step`, those written in a stage read `stageStep`. */
export interface Clock {
  /** Steps over all `rl` stages, from 0. */
  readonly step: number;
  /** Steps within the present stage, from 0. */
  readonly stageStep: number;
}

/** Everything with state is saved as JSON plus named arrays, and is exactly itself after `load`. */
export interface Saved {
  readonly json: Json;
  readonly arrays?: Readonly<Record<string, Float64Array | Float32Array | Int32Array>>;
}
export interface Stateful {
  save(): Saved;
  load(saved: Saved): void;
}

// ───────────────────────────────────────────────────────────────── tasks

export type { Angles, Pooling, Questioned } from "./states.ts";
export type { Knob, Task, TaskPool, TaskSource } from "./slots/tasks.ts";

// ───────────────────────────────────────────────────────────────── rollouts

export type Finish = "stop" | "length" | "error";
export type RolloutSource = "self" | "guided" | "teacher" | "dataset" | "replay";
export type RolloutUse = "train" | "estimate" | "evaluate";

export type { Turn } from "./slots/turn.ts";

/** `origin` column values. Only `written` tokens train unless the config says otherwise; `observed` never do. */
export const origin = { written: 0, given: 1, observed: 2 } as const;

/** What a row is, apart from its tokens. */
export interface RolloutRecord extends GuidedRecord {
  readonly task: Task;
  readonly arm: Arm;
  /** Group identity is (run, step, group). */
  readonly group: string;
  readonly index: number;
  readonly prompt: string;
  readonly response: string;
  readonly finish: Finish;
  readonly source: RolloutSource;
  readonly use: RolloutUse;
  readonly turns?: readonly Turn[];
  /** Attempts that the episode might have, where it might have several. */
  readonly tries?: number;
  /** Token spans of reasoning steps within the row, [start, end). */
  readonly steps?: readonly (readonly [number, number])[];
  /** Token spans by a name, e.g. `executed` or `error`: whoever ran the response knows them, masks read them. */
  readonly spans?: Readonly<Record<string, readonly (readonly [number, number])[]>>;
  /** The sibling this row branched from, the token it branched at, and what it took over as text, where it is told. */
  readonly parent?: { readonly index: number; readonly token: number; readonly text?: string };
  readonly pair?: string;
  /** What models were shown beside its prompt before they judged it, by what it is called in `Batch.contexts`. */
  readonly shown?: Readonly<Record<string, string>>;
}

/** Ragged integers: row `i` is `values.subarray(offsets[i], offsets[i + 1])`. */
export interface Ragged {
  readonly offsets: Int32Array;
  readonly values: Int32Array;
}

/** Columns that may be absent; all per token, aligned with `Batch.tokens`. NaN where a value does not exist. */
export interface TokenColumns {
  /** Behaviour model at T = 1, unfiltered. */
  readonly logp_old?: Float64Array;
  /** The distribution that was drawn from. */
  readonly logp_sampled?: Float64Array;
  readonly entropy?: Float64Array;
  readonly values?: Float64Array;
  /** The weights' version that wrote each token. */
  readonly versions?: Int32Array;
  /** Σ over the vocabulary of π², of the distribution that wrote each token. */
  readonly sum_pi_squared?: Float64Array;
  /** What a value loss regresses on, where somebody recorded it. */
  readonly returns?: Float64Array;
}

/** Columns that may be absent; one number per row, NaN where there is none. */
export interface RowColumns {
  /** Reward of a reference answer to the same task, e.g. the greedy one. */
  readonly reward_baseline?: Float64Array;
  /** Log-ratio, to the objective's anchor, of another task's response behind this row's prompt: of one update. */
  readonly mismatched_log_ratio?: Float64Array;
}

export interface Batch {
  /** Number of rows (rollouts). */
  readonly rows: number;
  /** `rows + 1` offsets into every token column. */
  readonly offsets: Int32Array;
  readonly tokens: Int32Array;
  /** See `origin`. */
  readonly origin: Uint8Array;
  /** 1 where a token trains: what remains after the mask slot (default: written). */
  readonly mask: Uint8Array;
  readonly columns: TokenColumns;
  readonly rowColumns?: RowColumns;
  /** The token ids in front of each row when it was generated. */
  readonly context: Ragged;
  /** Replaces `context` in training, where present (guidance that is stripped). */
  readonly trainContext?: Ragged;
  /**
   * Other contexts of the rows, by a name: `<model>@<name>` is a model that reads the rows behind these. A row that has
   * none of a name has its own there.
   */
  readonly contexts?: Readonly<Record<string, Ragged>>;
  /** Row → group number, 0-based and dense. Rows of a group need not be adjacent. */
  readonly group: Int32Array;
  readonly groups: number;
  /** Row → pair number, −1 where the row is in none. */
  readonly pair?: Int32Array;
  /** The weights' version at the start of this batch's updates: a token's staleness is `version − columns.versions[t]`. */
  readonly version?: number;
  readonly records: readonly RolloutRecord[];
}

/** A response, and whether it counts as a success. */
export interface Answered {
  readonly response: string;
  readonly right: boolean;
}

/** One group as curriculum signals and admission see it. */
export interface Group {
  readonly task: Task;
  readonly arm: Arm;
  /** The combined reward of each rollout that has one; errored rollouts are left out. */
  readonly rewards: Float64Array;
  /** Mean advantage over each rollout's trained tokens; empty before advantages are known. */
  readonly advantages: Float64Array;
  /** Of the rollouts in `rewards`, how many count as a success (`reward.success`). */
  readonly successes: number;
  /** Each rollout in `rewards`, without text where none was written: in a history, in a simulation. Absent: nobody knows. */
  readonly answers?: readonly Answered[];
  readonly lengths: Float64Array;
}

// ───────────────────────────────────────────────────────────────── models

/** policy | reference | previous | ema | a name in `models`; with `@<name>` behind it, that model behind other contexts of the batch. */
export type Model = string;

export type Channel =
  | "logp"
  | "entropy"
  | "logsumexp"
  | "mean_logp"
  /** Σ over the vocabulary of π²: how likely two draws are the same word. */
  | "sum_pi_squared"
  /** Log-prob of the likeliest word: 0 at most, and that of the token where greedy decoding would have written it. */
  | "greedy"
  /** The model's own log-prob of the word that the other model finds likeliest. */
  | `greedy:${Model}`
  /**
   * `head:<name>` is a head's value; of a head with a value for every word, the value of the token. `head:<name>:logp` is
   * then the token's log-prob under the softmax of its values.
   */
  | `head:${string}`
  | `logp:${Model}`
  | `entropy:${Model}`
  | `kl:${Model}:${"forward" | "reverse"}`
  /** Among the other model's so many likeliest words, both distributions brought to a sum of 1 over them. */
  | `kl:${Model}:${"forward" | "reverse"}:${number}`;

/** A per-token column for each channel that was asked for. */
export type Stats = Readonly<Partial<Record<Channel, Float64Array>>>;

/** A context to generate from. `key` names its random stream, so results do not depend on the batch's composition. */
export interface Prompt {
  readonly tokens: Int32Array;
  /** Tokens already in the row that the model must continue (origin: given). */
  readonly prefix?: Int32Array;
  /** Longest response to this prompt, where it is to be shorter than what decoding allows. */
  readonly max_tokens?: number;
  readonly key: readonly (string | number)[];
}

export interface DecodeOptions {
  readonly max_tokens: number;
  /** 0 is greedy. */
  readonly temperature: number;
  /** The temperature of the token that has `written` tokens of its response before it; replaces `temperature`. */
  readonly temperature_at?: (written: number) => number;
  readonly top_k?: number;
  readonly top_p?: number;
  readonly min_p?: number;
  /**
   * Logits of tokens that prompt or response have, where positive, are divided by it, else multiplied, behind
   * `logit_bias` and before the temperature (Keskar et al., CTRL; transformers' `repetition_penalty`). 1: none.
   */
  readonly repetition_penalty?: number;
  /** Subtracted from the logits of tokens that the response has. */
  readonly presence_penalty?: number;
  /** Subtracted from a token's logit as often as the response has it. */
  readonly frequency_penalty?: number;
  /** Tokens before which neither an end token nor a stop text ends a response. */
  readonly min_tokens?: number;
  readonly stop?: readonly string[];
  /** Added to logits before the temperature, by token id. */
  readonly logit_bias?: ReadonlyMap<number, number>;
  /**
   * β times the least of these heads' values of each word is added to the logits, before everything else that is: a policy
   * perturbed by its Qs (Snell et al., ILQL). `logp_old` stays that of the policy alone.
   */
  readonly perturb?: { readonly heads: readonly string[]; readonly beta: number };
  /** Which tokens may come: the state at a response's first token. */
  readonly grammar?: GrammarState;
  readonly seed: number;
  /** Which weights write; default `policy`. */
  readonly model?: Model;
  /** Most responses written at once: bounds memory, changes no result. Default: what the caches' bytes allow. */
  readonly lanes?: number;
  /** Called with every token as it is written, end tokens included: what a person watches. */
  readonly on_token?: (index: number, token: number) => void;
  /** Gives up between two tokens: `generate` throws the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * Awaited between two tokens, while all that is begun stays as it is: what waits for somebody waits here, and what it
   * throws ends the generation.
   */
  readonly between?: () => Promise<void>;
  /** Stops between two tokens and hands out what is begun. */
  readonly pause?: Pause;
  /** Responses begun before, under these weights or earlier ones; `index` is their place among the prompts. */
  readonly resume?: readonly PartialSample[];
}

/**
 * What may follow in a response. States are compared by identity: the same object again costs nothing, so a grammar
 * with few states should return them and not copies.
 */
export interface GrammarState {
  /** By token id, 1 where the token may come; null: all. End tokens count like the others. At least one is 1. */
  readonly allowed: Uint8Array | null;
  /** The state behind an allowed token. */
  after(token: number): GrammarState;
}

export interface Pause {
  /** Looked at between two tokens. */
  readonly signal: AbortSignal;
  /** Called once the signal was given, with everything that is not finished (if anything is); then the iteration ends. */
  readonly keep: (rest: readonly PartialSample[]) => void;
}

/** One finished generation; arrays are per written token. */
export interface Sample {
  /** Position in the `prompts` given to `generate`. */
  readonly index: number;
  readonly tokens: Int32Array;
  readonly logp_old: Float64Array;
  readonly logp_sampled: Float64Array;
  readonly entropy: Float64Array;
  readonly versions: Int32Array;
  readonly finish: Finish;
}

/** A generation that was paused: its tokens so far (perhaps none), each with the weights' version that wrote it. */
export type PartialSample = Omit<Sample, "finish">;

export interface Tokenizer {
  readonly size: number;
  readonly eos: number;
  readonly pad: number;
  /** What plain text begins with, where the model was trained so; absent: nothing. */
  readonly prefix?: readonly number[];
  /** Every id that ends a turn, `eos` first; absent: `eos` alone. */
  readonly eosAll?: readonly number[];
  /** Every token that is not special is one character. */
  readonly byCharacter?: boolean;
  encode(text: string): Int32Array;
  decode(tokens: ArrayLike<number>): string;
  /** A conversation, up to where the assistant speaks, by the model's own template; undefined where it has none. */
  chat?(messages: readonly { readonly role: string; readonly content: string }[]): string | undefined;
}

/** How an update goes about its batch: a mini-batch never splits a `unit`. */
export interface UpdatePlan {
  readonly channels: readonly Channel[];
  readonly unit: "sequence" | "pair" | "group";
  /** Stored behaviour values may serve as `now`: the weights have not moved since generation. */
  readonly fresh?: boolean;
  readonly per_sequence_clip?: number;
  /** Gaussian noise of this standard deviation on the gradient by every weight; the norm is then not clipped. */
  readonly noise?: { readonly deviation: number; readonly random: Random };
  /** Another optimiser than the policy's own, with a memory of its own, known by its name. */
  readonly optimizer?: { readonly name: string; readonly choice: OptimizerChoice };
  /** Multiplies the optimiser's base learning rate at this step. */
  readonly lr_scale?: number;
}

/** ∂loss/∂channel per token; all normalisation is inside. Loss is minimised. */
export interface Weighed {
  readonly loss: number;
  readonly gradients: Readonly<Partial<Record<Channel, Float64Array>>>;
  readonly metrics?: Readonly<Record<string, number>>;
  /** Tokens that a rule touched (1), by the rule's name in the words of a person: what `explain` and the panel say. */
  readonly touched?: Readonly<Record<string, Uint8Array>>;
}
export type Weigh = (now: Stats, batch: Batch) => Weighed;

export interface UpdateStats {
  readonly loss: number;
  /** Global norm before clipping. */
  readonly grad_norm: number;
  readonly lr: number;
  readonly tokens: number;
  readonly metrics: Readonly<Record<string, number>>;
  readonly mode: "fused" | "staged" | "recompute";
}

/** The language model that is trained. Objectives never touch tensors. */
export interface Policy extends States {
  readonly tokenizer: Tokenizer;
  /** Longest prompt + response, in tokens. */
  readonly context: number;
  /** Which of the weights' versions is current: grows by one with every update. */
  readonly version: number;
  generate(prompts: readonly Prompt[], decode: DecodeOptions): AsyncIterable<Sample>;
  /** No gradient. */
  score(batch: Batch, ask: { readonly model: Model; readonly channels: readonly Channel[] }): Promise<Stats>;
  /** One optimiser step. `weigh` is called once, with the whole mini-batch. */
  update(batch: Batch, plan: UpdatePlan, weigh: Weigh): Promise<UpdateStats>;
  /** Copies the policy's weights (or, with `decay`, moves an average towards them) under a name. */
  snapshot(name: Model, decay?: number): Promise<void>;
}

/** `rows` feature vectors, row after row. */
export interface Features {
  readonly rows: number;
  readonly values: Float32Array | Float64Array;
}

/** From a perceptron's outputs (row after row) to a loss, which is minimised, and ∂loss/∂output, with all normalisation inside. */
export type WeighOutputs = (outputs: Float64Array) => {
  readonly loss: number;
  readonly gradients: Float64Array;
  readonly metrics?: Readonly<Record<string, number>>;
};
export type PerceptronUpdate = Pick<UpdateStats, "loss" | "grad_norm" | "lr" | "metrics">;

/** A multilayer perceptron of the run (`kind: mlp` in `models`): predictors and values over features that a method makes. */
export interface Perceptron {
  /** Numbers in a row of features. */
  readonly inputs: number;
  readonly outputs: number;
  /** Updates so far. */
  readonly version: number;
  /** Outputs, row after row. No gradient. @throws UserError for features of another number, or that are not finite */
  predict(features: Features): Promise<Float64Array>;
  /** One optimiser step over all rows. `weigh` is called once. */
  update(features: Features, weigh: WeighOutputs, lr_scale?: number): Promise<PerceptronUpdate>;
}

/** What a method may reach of the run's models: a reward or a guidance rule can score or generate by this. */
export interface Models {
  readonly names: readonly Model[];
  get(name: Model): Policy;
  /** A model of `kind: mlp`, which `get` has not. */
  perceptron(name: Model): Perceptron;
}

/** A model that trains beside the policy; `step.ts` updates learners in declared order, the policy last. */
export interface Learner {
  readonly model: Model;
  readonly when: "before_advantage" | "after_advantage";
  train(
    models: Models,
    batch: Batch,
    rewards: Rewards,
    clock: Clock,
  ): Promise<Readonly<Record<string, number>>>;
}

// ───────────────────────────────────────────────────────────────── reward

export type Level = "response" | "turn" | "step" | "token";

/** Status of a term on a row: it has a value, it does not apply, or it failed. An error is never a reward of 0. */
export const status = { value: 0, none: 1, error: 2 } as const;

/** One source of reward over a batch. Response level: one value a row; else `offsets` delimit each row's values. */
export interface RewardColumn {
  readonly name: string;
  readonly level: Level;
  /** Per row; see `status`. */
  readonly status: Uint8Array;
  /** `rows + 1`; for response level, 0, 1, 2, … */
  readonly offsets: Int32Array;
  readonly values: Float64Array;
  /** Row → message, for rows whose status is error. */
  readonly errors: ReadonlyMap<number, string>;
  /** Row → what the term found in the response, as it was scored. */
  readonly spans?: ReadonlyMap<number, TextSpans>;
  /** Row → what the term says criterion by criterion, where it does. */
  readonly criteria?: ReadonlyMap<number, readonly JudgedCriterion[]>;
}

/** Rewards stay separate per term until the advantage slot; nothing sums them earlier. */
export interface Rewards {
  readonly terms: readonly RewardColumn[];
  /** Weight of each term at this step. */
  readonly weights: readonly number[];
}

/** What `combine` gives: weighted sources by level, and one number a row for display, success and the curriculum. */
export interface Combined {
  readonly sources: readonly RewardColumn[];
  /** Factor that each source's values already have; absent: 1. */
  readonly weights?: readonly number[];
  /** Per row; NaN where a row has no reward. */
  readonly total: Float64Array;
  /** Per row: 1 where a term of non-zero weight errored. Such a row leaves its group's mean and std and does not train. */
  readonly errored: Uint8Array;
}

export interface RewardContext {
  readonly models: Models;
  readonly tokenizer: Tokenizer;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

export type { TermValue, TextSpans } from "./slots/reward.ts";

/** Scores every row of a batch; one result a row, in order. */
export interface RewardTerm {
  /** Models that must have learned from the batch, by the terms that need none, before this term scores it. */
  readonly learners?: readonly Learner[];
  score(batch: Batch, context: RewardContext): Promise<readonly TermValue[]>;
  /** Loads what the term needs, once, before the first step; throws a UserError a person can act on. */
  prepare?(): Promise<{ readonly bundle?: string }>;
  /** Ends processes the term holds. */
  close?(): Promise<void>;
}

export type Combine = (rewards: Rewards, batch: Batch) => Combined;

// ───────────────────────────────────────────────────────────────── curriculum

export type {
  Admission,
  Arms,
  ArmSet,
  Budget,
  Division,
  Estimator,
  Known,
  Observation,
  Refill,
  Sampler,
  Signal,
  SourceOf,
  Verdict,
} from "./slots/curriculum.ts";

// ───────────────────────────────────────────────────────────────── guidance

export type {
  AmountQuestion,
  Attempt,
  Attempted,
  Begun,
  EpisodeState,
  Finished,
  GuidanceAmount,
  GuidanceRatio,
  GuidanceSource,
  GuidanceTrigger,
  GuidedToken,
  Help,
  HelpContext,
  HelpCurve,
  HelpedRound,
  HelpRecord,
  HelpRequest,
  Lack,
  Lead,
  Outcomes,
  Start,
  StartContext,
  StepMixture,
  TokenLoss,
  Writing,
  WrittenText,
} from "./slots/guidance.ts";

// ───────────────────────────────────────────────────────────────── advantage, mask, kl, objective

/** Advantage per token, aligned with `batch.tokens`; 0 on rows that do not train. */
export type Advantage = (rewards: Combined, batch: Batch, stats: Stats) => Float64Array;

/** Which tokens train, of the batch as it was generated: returns a new mask column. */
export type BatchMask = (batch: Batch, stats: Stats) => Uint8Array;

/** Which tokens the objective moves, seen by the weights as they are in each update; KL terms go on without it. */
export interface LossMask {
  /** What it needs to see of those weights. */
  readonly channels: readonly Channel[];
  /** The normaliser goes on counting the tokens it leaves out. */
  readonly counted: boolean;
  /** 1 where the objective keeps its token; only asked of tokens whose weight is not 0. */
  keep(input: Pick<ObjectiveInput, "batch" | "now" | "old" | "advantages" | "weights">): Uint8Array;
}

export type Mask = BatchMask | LossMask;

/** Per-token factor after the mask, before normalisation. `advantages` are those of the batch's tokens. */
export type TokenWeight = (
  batch: Batch,
  stats: Stats,
  advantages: Float64Array,
  clock: Clock,
) => Float64Array;

export type { KlColumns, KlEstimator, KlInput, KlPoint, KlRows, KlTerm } from "./slots/kl.ts";

/** What an objective sees. */
export interface ObjectiveInput {
  readonly batch: Batch;
  /** Channels of the weights as they are now. */
  readonly now: Stats;
  /** Channels as they were when the batch was generated (`logp`), and of other models (`logp:reference`). */
  readonly old: Stats;
  readonly advantages: Float64Array;
  /** What value losses and NFT regress on; absent where only advantages are known. */
  readonly rewards?: Combined;
  /** Per row: 1 where it counts as a success, 0 where not, 2 where that is unknown. Absent as `rewards` may be. */
  readonly success?: Uint8Array;
  readonly clock?: Clock;
  /** Mask × token weighting, per token; 0 where a token does not train. */
  readonly weights: Float64Array;
  /** Per row, which losses it moves: a place of the config's routes. Absent: the objective. */
  readonly routes?: Uint8Array;
  /** What the aggregation makes of `weights`: loss = Σ factors · (loss of the token). */
  readonly factors: Float64Array;
  /** Per token, what the corrections multiply its loss by: only for objectives that apply it themselves. */
  readonly correction?: Float64Array;
  /** The weights' version that `now` is of. */
  readonly version?: number;
  /** Where the derivative by logp may be written: as long as the columns, all 0. */
  readonly gradient?: Float64Array;
}

/** A value head of a model of the run, as that model stands. */
export interface HeadOf {
  readonly model: Model;
  readonly head: string;
}

/**
 * A family of losses: arithmetic on columns. Ratios of whole sequences, pairs and rankings couple tokens, so an
 * objective returns the whole loss with its derivative by each channel, already multiplied by the factors.
 */
export interface Objective {
  readonly channels: readonly Channel[];
  readonly unit: "sequence" | "pair" | "group";
  /** Models whose log-probs it reads in `old`, as `logp:<model>`; `proximal` is the policy as this update found it. */
  readonly models?: readonly Model[];
  /** Channels beside `logp` that it reads in `old`: of the weights as they stood at the start of the update. */
  readonly before?: readonly Channel[];
  /** Heads of other models that it reads in `old`, as `head:<head>@<model>`. */
  readonly heads?: readonly HeadOf[];
  /**
   * The same heads' values of an action that the policy takes now in the place of the recorded one, as
   * `head:<head>@<model>~drawn` at the state's token. Only a learner of `auxiliary` can ask for them.
   */
  readonly redrawn?: { readonly level: Level; readonly heads: readonly HeadOf[] };
  /** It reads `mismatched_log_ratio` to this model. */
  readonly mismatched?: Model;
  /** It reads `input.correction` itself; otherwise corrections are in its factors. */
  readonly corrects?: true;
  loss(input: ObjectiveInput): Weighed;
  /** The same loss, taken some rows at a time: where what a row needs to know of others is known before the first. */
  start?(whole: WholeInput): RunningLoss;
}

/** What a loss that is taken in parts sees of all rows. */
export type WholeInput = Omit<ObjectiveInput, "factors" | "gradient">;

/** Some whole rows of an objective's input, as views of its columns. */
export interface Part extends Omit<ObjectiveInput, "rewards" | "success" | "routes"> {
  /** The place of its first token in the batch. */
  readonly from: number;
  /** The place of its first row. */
  readonly first: number;
  /** Where every token of the part trains, and those of a row count alike: each row's factor. */
  readonly alike?: Float64Array;
  /** Where the derivative by a channel is written: all 0 when it is asked for the first time. */
  readonly gradientOf: (channel: Channel) => Float64Array;
}

/** A loss that is added up part after part. */
export interface RunningLoss {
  /** @returns the part's loss */
  add(part: Part): number;
  /** Of all parts that were added. */
  result(): Pick<Weighed, "metrics" | "touched">;
}

export type { Corrected, Correction, CorrectionInput } from "./slots/correction.ts";

/**
 * The normaliser of a loss: per row, what the `weights` of its tokens are multiplied by to become their factors.
 * `counts`: tokens of each row that train.
 */
export type Aggregate = (counts: Int32Array, batch: Batch) => Float64Array;

// ───────────────────────────────────────────────────────────────── replay and batch, auxiliary

export type {
  Candidate,
  Drawn,
  Past,
  ReplayAdmission,
  ReplayDraw,
  ReplaySource,
  Rescore,
  Selection,
} from "./slots/replay.ts";
export type { Auxiliary, AuxiliaryData } from "./slots/auxiliary.ts";

// ───────────────────────────────────────────────────────────────── evaluation

export interface EvaluationReport {
  readonly metrics: Readonly<Record<string, number>>;
  readonly tasks: number;
}
