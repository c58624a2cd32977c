/** A config after `extends`, `--set`, defaults and stage overrides: what the run, `explain` and the editor read. */
import type { AdvantageClip, AdvantageFilter, Whiten } from "../blocks/advantage.ts";
import type { AdvantageLevel } from "../slots/advantage.ts";
import type { PerceptronShape, TokenizerConfig } from "../blocks/models.ts";
import type { Anneal, Perturb, SpanRules, StepEnd, TermAttempts, GrammarSpec } from "../blocks/rollout.ts";
import type { Scheduled } from "../schedule.ts";
import type { Declaration, MethodContext, SlotName } from "../declaration.ts";
import type { RateSchedule } from "../blocks/learningRate.ts";
import type { KlAggregate, KlImportance, KlWeight, AdaptiveOptions } from "../blocks/kl.ts";
import type { KlShown } from "../blocks/klShown.ts";
import type { RouteCondition, RoutePlace } from "../blocks/routes.ts";
import type { EntropyOptions } from "../blocks/objective.ts";
import type { KlRows } from "../slots/kl.ts";

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

export interface ModelConfig {
  /** `tiny`, a folder, a .gguf file, or a checkpoint of an earlier run (absolute path once resolved). */
  readonly base: string;
  /** Size of a `tiny` model. */
  readonly size: {
    readonly width: number;
    readonly layers: number;
    readonly heads: number;
    readonly kv_heads: number;
    readonly hidden: number;
    readonly context: number;
    readonly tied: boolean;
  };
  /** Low-rank adapters that train in the place of the weights; undefined: every weight trains. */
  readonly adapter?:
    | {
        readonly rank: number;
        readonly alpha: number;
        readonly targets: readonly ("q" | "k" | "v" | "o" | "gate" | "up" | "down")[];
        readonly dropout: number;
      }
    | undefined;
  /** Linear maps from the final state to a number per token: `head:<name>`. */
  readonly heads?: readonly { readonly name: string; readonly detach: boolean }[] | undefined;
  /** How a `tiny` model reads text; undefined: characters. */
  readonly tokenizer?: TokenizerConfig | undefined;
}

/** A model of `models` that is opened: frozen, or trained by whichever method names it. */
export interface OpenedModelConfig {
  readonly name: string;
  readonly kind: "opened";
  readonly model: ModelConfig;
  /** undefined: frozen. */
  readonly optimizer: Choice<"optimizer"> | undefined;
}
/** A copy of another model: after every `every` updates of it, copy ← decay · copy + (1 − decay) · model. */
export interface CopiedModelConfig {
  readonly name: string;
  readonly kind: "copy";
  readonly of: string;
  readonly decay: number;
  readonly every: number;
}
/** A multilayer perceptron over features that a method makes. */
export interface PerceptronModelConfig {
  readonly name: string;
  readonly kind: "perceptron";
  readonly shape: PerceptronShape;
  /** undefined: frozen. */
  readonly optimizer: Choice<"optimizer"> | undefined;
}
export type RegisteredModelConfig = OpenedModelConfig | CopiedModelConfig | PerceptronModelConfig;

export interface TaskConfig {
  readonly name: string;
  readonly weight: Scheduled;
  readonly source: Choice<"task">;
  /** Where its tasks are made of others'. */
  readonly generate?: GenerateConfig;
}

export interface GenerateConfig {
  /** Names of tasks; undefined: all that are not made. */
  readonly from?: readonly string[] | undefined;
  readonly selector: Choice<"task_selector">;
  readonly transform: Choice<"task_transform">;
  readonly author: Choice<"task_author">;
  readonly answer: Choice<"task_answer">;
  readonly gates: readonly Choice<"task_gate">[];
  readonly every: number;
  /** Tasks that later steps draw; or the batch of the step whose tasks they are made of, and no other. */
  readonly joins: "later" | "step";
  /** Steps of the stage before the first round; default: `every`, and 0 where they join the step. */
  readonly first?: number | undefined;
  /** Most rounds, over all stages that share the tasks. */
  readonly rounds?: number | undefined;
  readonly parents: number;
  readonly tries: number;
  readonly keep: number;
  readonly depth: number;
}

export interface RewardTermConfig {
  readonly name: string;
  readonly weight: Scheduled;
  /** Task names the term applies to; undefined: all. */
  readonly tasks: readonly string[] | undefined;
  /** What it scores of an episode of several attempts. */
  readonly attempts: TermAttempts;
  readonly term: Choice<"reward">;
}

export interface KlConfig {
  readonly model: string;
  readonly direction: "reverse" | "forward";
  readonly place: "reward" | "loss";
  readonly coefficient: Scheduled | AdaptiveOptions;
  readonly estimator: Choice<"kl">;
  readonly mask: KlRows;
  /** Turns of the assistant, from 0, on which the term acts; undefined: all. */
  readonly turns: readonly number[] | undefined;
  readonly weight: KlWeight | undefined;
  readonly importance_weighted: boolean | KlImportance;
  readonly aggregate: KlAggregate;
  /** What the model is shown beside the prompt; undefined: nothing. */
  readonly shown: KlShown | undefined;
}

/** A rule of `route`: the place of rollouts on which every condition holds. */
export interface RouteConfig {
  readonly when: readonly RouteCondition[];
  readonly to: RoutePlace;
}

export interface ReplayConfig {
  readonly source: Choice<"replay">;
  readonly admission: Choice<"replay_admission">;
  readonly draw: Choice<"replay_draw">;
  readonly rescore: Choice<"rescore">;
  readonly select: Choice<"selection">;
  /** What baselines and scales see of a group of which some rollouts are selected. */
  readonly statistics: "all" | "kept";
  readonly share: Scheduled;
  readonly weight: Scheduled;
  readonly every: number;
  readonly place: "joint" | "separate" | "alone";
  readonly updates: number;
}

export interface GuidanceConfig {
  readonly trigger: Choice<"guidance_trigger">;
  readonly source: Choice<"guidance_source">;
  readonly amount: Choice<"guidance_amount">;
  readonly ratio: Choice<"guidance_ratio">;
  readonly context: "keep" | "strip";
  readonly place: "replace" | "append";
  readonly trains: "auto" | "written" | "given" | "all";
  readonly given_advantage: "joint" | "own";
  /** undefined: as many as the trigger chooses. */
  readonly rollouts: number | undefined;
  readonly enter: "all" | "successes";
}

export interface AuxiliaryConfig {
  readonly loss: Choice<"auxiliary">;
  readonly weight: Scheduled;
  /** One of the three, where it is not always. */
  readonly when:
    | "always"
    | {
        readonly every?: number | undefined;
        readonly last?: number | undefined;
        /** Tasks that failed in all their rollouts. */
        readonly all_failed?: number | undefined;
      };
  readonly place: "joined" | "alone";
  /** What a learner's model learns; undefined for other losses, and for a critic. */
  readonly objective?: Choice<"objective"> | undefined;
  /** undefined: the policy's own. */
  readonly optimizer: Choice<"optimizer"> | undefined;
}

export interface Condition {
  readonly metric: string;
  readonly above?: number;
  readonly below?: number;
  readonly window: number;
  readonly patience?: number;
  /** Of a plateau: what an improvement is more than, and which way. */
  readonly min_delta: number;
  readonly mode: "max" | "min";
}

export interface AdvantageConfig {
  readonly baseline: Choice<"baseline">;
  readonly scale: Choice<"scale">;
  /** auto: what the baseline is made for. */
  readonly level: AdvantageLevel | "auto";
  readonly gamma: Scheduled;
  readonly returns: "after" | "before" | "none";
  readonly per_source: boolean;
  readonly penalty: "in_reward" | "apart";
  readonly observations: "skip" | "discount";
  readonly whiten: Whiten;
  readonly sign: { readonly positive: Scheduled; readonly negative: Scheduled };
  readonly filter: AdvantageFilter;
  readonly prefix: "soft" | "hard";
  readonly clip: AdvantageClip;
  readonly unscored: "leave_out" | "zero";
  readonly token_weights: readonly Choice<"token_weight">[];
}

/** Everything that a stage may override, overrides applied. */
export interface StageBody {
  readonly tasks: readonly TaskConfig[];
  readonly curriculum: {
    readonly arms: Choice<"arms">;
    readonly signal: Choice<"signal">;
    readonly estimator: Choice<"estimator">;
    readonly sampler: Choice<"sampler">;
    readonly admission: Choice<"admission">;
    readonly refill: Choice<"refill">;
    readonly start: Choice<"start">;
    readonly budget: Choice<"budget">;
  };
  readonly rollout: {
    readonly prompts: number;
    readonly group: number;
    readonly shape: Choice<"episode_shape">;
    readonly branch: Choice<"branching">;
    readonly max_tokens: number;
    /** Longest response of the moment; undefined: `max_tokens`. */
    readonly budget?: Scheduled | undefined;
    readonly temperature: Scheduled;
    readonly top_p: number;
    readonly top_k: number;
    readonly min_p: number;
    /** 1: none. */
    readonly repetition_penalty: number;
    /** 0: none. */
    readonly presence_penalty: number;
    readonly frequency_penalty: number;
    /** What ends a step of a response; undefined: responses are not divided. */
    readonly steps: StepEnd | undefined;
    readonly spans: SpanRules | undefined;
    readonly stop: readonly string[];
    readonly chat: boolean | "auto";
    readonly system: string | undefined;
    readonly min_tokens: number;
    readonly prefix: string;
    /** By token id, or by a text that is one token. */
    readonly logit_bias: Readonly<Record<string, number>>;
    readonly grammar: GrammarSpec | undefined;
    readonly anneal: Anneal | undefined;
    readonly perturb: Perturb | undefined;
    readonly lanes: number | undefined;
  };
  readonly guidance: GuidanceConfig;
  readonly reward: {
    readonly terms: readonly RewardTermConfig[];
    readonly combine: Choice<"combine">;
    readonly success: { readonly terms: readonly string[] | undefined; readonly at_least: number };
    /** Seconds a user reward may take for one rollout. */
    readonly timeout: number;
  };
  readonly advantage: AdvantageConfig;
  readonly objective: {
    readonly loss: Choice<"objective">;
    readonly factor: Scheduled;
    /** Losses that are summed with the objective. */
    readonly also: readonly {
      readonly loss: Choice<"objective">;
      readonly factor: Scheduled;
      /** Whose rollouts: those of the objective, or those that routes send to pairs. */
      readonly of: "policy" | "pair";
    }[];
    /** The loss of a value head, added times a coefficient. */
    readonly value?: { readonly loss: Choice<"objective">; readonly coefficient: Scheduled } | undefined;
    readonly aggregate: Choice<"aggregate">;
    readonly correction: readonly Choice<"correction">[];
    readonly entropy: Scheduled | EntropyOptions;
  };
  readonly kl: readonly KlConfig[];
  readonly route: readonly RouteConfig[];
  readonly mask: readonly Choice<"mask">[];
  readonly replay: ReplayConfig;
  readonly auxiliary: readonly AuxiliaryConfig[];
  readonly update: {
    readonly optimizer: Choice<"optimizer">;
    readonly schedule: RateSchedule;
    readonly mini_batch: number | undefined;
    readonly epochs: number;
    /** Steps of a stage after which the optimiser's moments are forgotten; undefined: never. */
    readonly reset_every: number | undefined;
    readonly micro_tokens: number | undefined;
  };
}
