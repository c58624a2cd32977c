/** The models that a run drives, and all that is asked of one. Nobody outside engine/ sees a tensor. */
import type { JsonObject } from "../../shared/lib/json.ts";
import type { ColumnWith } from "../../shared/rollouts/columns.ts";
import type { Batch } from "./rollouts.ts";
import type { Finish, Model } from "./basics.ts";
import type { Random } from "../lib/random.ts";
import type { States } from "./states.ts";
import type { OptimizerChoice } from "./slots/optimizer.ts";
import type { ToolSpec } from "./slots/tool.ts";

/** What two models' whole distributions of a token differ by. */
type DivergenceChannel =
  | `kl:${Model}:${"forward" | "reverse"}`
  /** The generalised Jensen–Shannon divergence, by the other model's share β of the mixture. */
  | `jsd:${Model}:${number}`;

export type Channel =
  | "logp"
  | "entropy"
  | "logsumexp"
  | "mean_logp"
  | ColumnWith<{ scored: true }>
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
  | `logsumexp:${Model}`
  | DivergenceChannel
  /** Among the other model's so many likeliest words, both distributions brought to a sum of 1 over them. */
  | `${DivergenceChannel}:${number}`
  /** Of both distributions at this temperature. */
  | `${DivergenceChannel}:t${number}`
  | `${DivergenceChannel}:${number}:t${number}`;

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
  /**
   * Of a prompt that came while others were written: the sample whose prompt and response this one begins with, by its
   * index. What is known of those tokens may be used again; the result is the same.
   */
  readonly after?: number;
  /** Replaces the decoding's own for this prompt. */
  readonly temperature?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  /** Ends this prompt's response between two tokens, as its length would: nobody waits for it any more. */
  readonly signal?: AbortSignal;
}

/**
 * Prompts that come while others are written: the turns of episodes, the requests of a server. A sample's index is the
 * prompt's place among all that were taken.
 */
export interface PromptFeed {
  /** Prompts that have come since this was last called; never waits. */
  take(): readonly Prompt[];
  /** Whether more may come. */
  readonly open: boolean;
  /** Resolves when a prompt has come, or none will. */
  next(): Promise<void>;
  /** Most prompts that are written at once, where that is known. */
  readonly most?: number | undefined;
}

export const isFeed = (prompts: readonly Prompt[] | PromptFeed): prompts is PromptFeed => "take" in prompts;

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
   * Logits of tokens that prompt or response have, where positive, are divided by it, else multiplied, after
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
  /**
   * Added to the logits of the token after each text, before everything else that is but `perturb`: what other models make
   * of them. `logp_old` stays that of the model alone. A shorter vector says nothing of the tokens beyond it.
   */
  readonly logits_shift?: (texts: readonly Int32Array[]) => Promise<readonly Float32Array[]>;
  /** Which tokens may come: the state at a response's first token. */
  readonly grammar?: GrammarState;
  readonly seed: number;
  /** Which weights write; default `policy`. */
  readonly model?: Model;
  /** Most responses written at once: bounds memory, changes no result. Default: what the caches' bytes allow. */
  readonly lanes?: number;
  /** Called with every token as it is written, end tokens included, and its log-prob at T = 1: what a person watches. */
  readonly on_token?: (index: number, token: number, logp: number) => void;
  /** Gives up between two tokens: `generate` throws the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * Awaited between two tokens, while all that has started stays as it is: what waits for somebody waits here, and what it
   * throws ends the generation.
   */
  readonly between?: () => Promise<void>;
  /** Stops between two tokens and hands out what has started. */
  readonly pause?: Pause;
  /** Responses started before, under these weights or earlier ones; `index` is their place among the prompts. */
  readonly resume?: readonly PartialSample[];
}

/**
 * What may follow in a response. States are compared by identity: the same object again costs nothing, so a grammar
 * with few states should return them and not copies.
 */
export interface GrammarState {
  /** By token id, 1 where the token may come; null: all. End tokens count like the others. At least one is 1. */
  readonly allowed: Uint8Array | null;
  /** The state after an allowed token. */
  after(token: number): GrammarState;
}

export interface Pause {
  /** Looked at between two tokens. */
  readonly signal: AbortSignal;
  /** Called once the signal was given, with everything that is not finished (if anything is); then the iteration ends. */
  readonly keep: (rest: readonly PartialSample[]) => void;
}

/** One finished generation; arrays are per generated token. */
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

export interface ChatMessage {
  readonly role: string;
  readonly content: string;
  /** Of a tool's result: the tool. */
  readonly name?: string;
}
export interface ChatOptions {
  /** Ends with the header of the assistant's turn. Default true. */
  readonly add_generation_prompt?: boolean;
  /** Further variables of the template, e.g. `enable_thinking` (Qwen3). */
  readonly variables?: JsonObject;
  /** What the assistant may call, which the template describes. */
  readonly tools?: readonly ToolSpec[];
}

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
  chat?(messages: readonly ChatMessage[], options?: ChatOptions): string | undefined;
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
  generate(prompts: readonly Prompt[] | PromptFeed, decode: DecodeOptions): AsyncIterable<Sample>;
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

/** A model of the registry; a snapshot of the policy, such as its reference, is known to the policy's own view. */
export const readerOf = (models: Models, name: Model): Policy =>
  models.get(models.names.includes(name) ? name : "policy");
