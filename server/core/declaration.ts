/**
 * The one form in which every method declares itself. From a declaration come the config schema, its JSON Schema,
 * defaults, completion, hover text, validation messages, `gradus methods --json` and the slots' pages: nothing is
 * written twice.
 */
import type { SandboxSetting } from "../lib/sandbox/wall/types.ts";
import type { OptimizerChoice } from "./slots/optimizer.ts";
import type { z } from "zod";
import type { Random } from "../lib/random.ts";
import type { TaskSource } from "./slots/tasks.ts";
import type {
  Admission,
  Arms,
  Budget,
  Estimator,
  EstimatorExtensions,
  Refill,
  Sampler,
  SamplerExtensions,
  Signal,
} from "./slots/curriculum.ts";
import type {
  GuidanceAmount,
  GuidanceRatio,
  GuidanceSource,
  GuidanceTrigger,
  Start,
} from "./slots/guidance.ts";
import type { KlEstimator } from "./slots/kl.ts";
import type { Correction } from "./slots/correction.ts";
import type { ReplayAdmission, ReplayDraw, ReplaySource, Rescore, Selection } from "./slots/replay.ts";
import type { Auxiliary } from "./slots/auxiliary.ts";
import type { Models, Tokenizer } from "./policy.ts";
import type { Combine, RewardTerm } from "./reward.ts";
import type { Advantage, Aggregate, Mask, Objective, TokenWeight } from "./loss.ts";
import type { AdvantageBaseline, AdvantageScale } from "./slots/advantage.ts";
import type { AnswerSource, Author, Gate, Selector, Transform } from "./slots/generation.ts";
import type { Branching } from "./slots/branching.ts";
import type { EpisodeShape } from "./slots/episodes.ts";
import type { Environments } from "./slots/environment.ts";
import type { Tools } from "./slots/tool.ts";

/** What each slot's `create` returns: the slot's function. The keys are the closed set of slots. */
export interface SlotMethods {
  task: TaskSource;
  arms: Arms;
  signal: Signal;
  estimator: Estimator & EstimatorExtensions;
  sampler: Sampler & SamplerExtensions;
  admission: Admission;
  refill: Refill;
  budget: Budget;
  start: Start;
  branching: Branching;
  episode_shape: EpisodeShape;
  environment: Environments;
  tool: Tools;
  guidance_trigger: GuidanceTrigger;
  guidance_source: GuidanceSource;
  guidance_amount: GuidanceAmount;
  guidance_ratio: GuidanceRatio;
  reward: RewardTerm;
  combine: Combine;
  baseline: AdvantageBaseline;
  scale: AdvantageScale;
  advantage: Advantage;
  objective: Objective;
  aggregate: Aggregate;
  correction: Correction;
  kl: KlEstimator;
  mask: Mask;
  replay: ReplaySource;
  replay_admission: ReplayAdmission;
  replay_draw: ReplayDraw;
  rescore: Rescore;
  selection: Selection;
  auxiliary: Auxiliary;
  token_weight: TokenWeight;
  optimizer: OptimizerChoice;
  task_selector: Selector;
  task_transform: Transform;
  task_author: Author;
  task_answer: AnswerSource;
  task_gate: Gate;
}
export type SlotName = keyof SlotMethods;

/** What a method may use when it is created: the folder that relative paths start from, randomness, the run's models. */
export interface MethodContext {
  /** Folder of the config file that wrote the parameter. */
  readonly folder: string;
  readonly random: Random;
  readonly models?: Models;
  readonly tokenizer?: Tokenizer;
  /** The values other slots need: rollout.max_tokens, rollout.group, … */
  readonly max_tokens: number;
  readonly group: number;
  /** How a model is asked (`rollout.chat`, `rollout.system`). */
  readonly asking?: { readonly chat?: boolean | "auto"; readonly system?: string | undefined };
  /** What the config calls this choice: a task source's or a reward term's name. */
  readonly name?: string;
  /** A loss by its name in the slot `objective`, for a reward term whose model learns. */
  readonly objective?: (use: string, params: Readonly<Record<string, unknown>>) => Objective;
  /** Seconds that a user's code may take for one rollout (`reward.timeout`). */
  readonly timeout?: number;
  /** What keeps the programs that models write; absent: what this machine has. */
  readonly sandbox?: SandboxSetting;
}

/** What a guidance source gives. */
export interface Offers {
  /** Beside the prompt, or as a piece of the response. */
  readonly place: "prompt" | "response";
  /** The amount says how much of it. */
  readonly divisible: boolean;
  /** The response to its end: the policy writes nothing. */
  readonly whole?: boolean;
  /** What it reads of a task, or of what the task has led to. */
  readonly reads?: "solution" | "answer" | "attempt";
  /** Who gave it can say how likely it was. */
  readonly likely?: boolean;
}

/**
 * What parts of a curriculum give one another:
 *   rate — the signal measures successes, in [0, 1]; by_rollout — it measures each rollout;
 *   estimate — the estimator tells arms apart; spread — and has standard deviations; posterior — and can be drawn from;
 *   foresight — it predicts tasks without rollouts, where a sampler names those it compares;
 *   tasks — each arm is one task; points — arms are points of a box, which a sampler may choose from;
 *   mixtures — estimates are shares of a mixture of arms, not of single arms.
 */
export type Capability =
  | "rate"
  | "by_rollout"
  | "estimate"
  | "spread"
  | "posterior"
  | "foresight"
  | "tasks"
  | "points"
  | "mixtures";

/** siblings: other rollouts of the group; a group of one gives nothing. */
type Need = "siblings";

/**
 * What a method acts on, where a run need not have it:
 *   branches — rollouts that share a beginning; given — tokens that the policy did not write; logged — recorded or given
 *   answers; replayed — rollouts of earlier weights; selected — the better of the rollouts; filtered — a sampler that draws
 *   from another distribution than the model's.
 */
export type Matter = "branches" | "filtered" | "given" | "logged" | "replayed" | "selected";

/**
 * How a part of a curriculum treats a task that always fails, whatever the signal scores:
 *   even — as any other: by what is known of the task beforehand, or each task in its turn;
 *   left_out — a group without a success does not train;
 *   kept — it is drawn, or trains, in the place of what can be learned: how, in words.
 */
export type Failing = "even" | "left_out" | { readonly kept: string };

export interface Declaration<Slot extends SlotName = SlotName, Params extends z.ZodObject = z.ZodObject> {
  readonly slot: Slot;
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  readonly formula?: string;
  /** Titles of the papers or names of the systems the definition follows. */
  readonly sources: readonly string[];
  readonly status?: "exact" | "approximate";
  /** What the method reads that a config or a rollout may lack. */
  readonly needs?: readonly Need[];
  /** It does what it is for only where there is one of these; undefined: it acts on any rollout. */
  actsOn?(params: z.output<Params>): readonly Matter[] | undefined;
  /** Of a curriculum's part: what it gives the other parts, and what it takes that one of them must give. */
  readonly gives?: readonly Capability[];
  readonly takes?: readonly Capability[];
  /** Of a curriculum's part; undefined: as the signal scores it. */
  failing?(params: z.output<Params>): Failing | undefined;
  /** Of a guidance source: what it gives, and what it needs for it. */
  offers?(params: z.output<Params>): Offers;
  /** Of a reward: whether it looks at what is answered, or only at how. */
  readonly judges?: "answer" | "form";
  readonly params: Params;
  /** Of a reward: the other terms whose values it reads, by name; undefined: those that decide a success. */
  reads?(params: z.output<Params>): readonly (string | undefined)[];
  /** Of a reward: the least and the most that it can be, before its weight. */
  range?(params: z.output<Params>): readonly [number, number];
  /**
   * Of a reward: that it only computes, in this process: it starts no program, runs no code that a file or a policy wrote,
   * and asks no server. What does not say so is scored again only in a trusted workspace.
   */
  computes?(params: z.output<Params>): boolean;
  /** Of a scale: within what a factor on all rewards changes no advantage, because they are divided by their own size. */
  readonly divides?: "group" | "step";
  // A method, not a property: declarations of one slot with different parameters go into one list.
  create(params: z.output<Params>, context: MethodContext): SlotMethods[Slot];
}

/** A method chosen for a slot, its parameters parsed by its declaration. */
export interface Choice<Slot extends SlotName> {
  readonly use: string;
  readonly declaration: Declaration<Slot>;
  readonly params: Readonly<Record<string, unknown>>;
  /** Folder of the file that wrote `use`: relative paths start here. */
  readonly folder: string;
}

/** What a choice's method needs from outside, apart from the folder that the choice itself knows. */
export type CreateContext = Omit<MethodContext, "folder">;

/** A parameter: what it may be, its default included, and what the schema, hovers and pages say of it. */
export const param = <Schema extends z.ZodType>(schema: Schema, summary: string): Schema =>
  schema.describe(summary);

const declare =
  <Slot extends SlotName>(slot: Slot) =>
  <Params extends z.ZodObject>(
    method: Omit<Declaration<Slot, Params>, "slot">,
  ): Declaration<Slot, Params> => ({ slot, ...method });

export const taskSource = declare("task");
export const arms = declare("arms");
export const signal = declare("signal");
export const estimator = declare("estimator");
export const sampler = declare("sampler");
export const admission = declare("admission");
export const refill = declare("refill");
export const budget = declare("budget");
export const start = declare("start");
export const branching = declare("branching");
export const episodeShape = declare("episode_shape");
export const environment = declare("environment");
export const tool = declare("tool");
export const guidanceTrigger = declare("guidance_trigger");
export const guidanceSource = declare("guidance_source");
export const guidanceAmount = declare("guidance_amount");
export const guidanceRatio = declare("guidance_ratio");
export const rewardTerm = declare("reward");
export const combine = declare("combine");
export const baseline = declare("baseline");
export const scale = declare("scale");
export const objective = declare("objective");
export const aggregate = declare("aggregate");
export const correction = declare("correction");
export const klEstimator = declare("kl");
export const mask = declare("mask");
export const replaySource = declare("replay");
export const replayAdmission = declare("replay_admission");
export const replayDraw = declare("replay_draw");
export const rescore = declare("rescore");
export const selection = declare("selection");
export const auxiliary = declare("auxiliary");
export const tokenWeight = declare("token_weight");
export const optimizer = declare("optimizer");
export const taskSelector = declare("task_selector");
export const taskTransform = declare("task_transform");
export const taskAuthor = declare("task_author");
export const taskAnswer = declare("task_answer");
export const taskGate = declare("task_gate");
