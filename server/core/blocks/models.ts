/** The keys of `model` and of the entries of `models`, and what a run reads of them. */
import { z } from "zod";
import { param, type Choice } from "../declaration.ts";
import { refers } from "../references.ts";
import type { Built } from "./field.ts";
import { choice, entry, made, map, namedMap, path, value, whole } from "./kinds.ts";

export const activations = ["relu", "silu", "tanh"] as const;

export type Activation = (typeof activations)[number];

export interface PerceptronShape {
  /** Numbers in a row of features. */
  readonly inputs: number;
  /** Of the hidden layers, in order; none: a linear map. */
  readonly widths: readonly number[];
  readonly outputs: number;
  readonly activation: Activation;
}

export const targets = ["q", "k", "v", "o", "gate", "up", "down"] as const;

export type Target = (typeof targets)[number];

export type TokenizerConfig =
  | { readonly use: "characters" }
  | {
      readonly use: "bpe";
      /** Most tokens, special ones and the 256 bytes included. */
      readonly vocabulary: number;
      /** A text file to learn from, or a folder with a tokenizer.json to take; undefined: the tasks' own texts. */
      readonly file: string | undefined;
    };

/** One linear map from the final state to a number, or to one for every word: channel `head:<name>`. */
export interface ValueHead {
  readonly name: string;
  /** A value for every word of the vocabulary (a Q of tokens), not one for the state. */
  readonly words?: boolean;
  /** Its gradient stops at the final state. */
  readonly detach: boolean;
}

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
        readonly targets: readonly Target[];
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

const names = z.string().regex(/^[A-Za-z_][\w-]*$/, "must be a word");
const adapterSchema = z.strictObject({
  use: param(z.literal("lora").default("lora"), "Low-rank adapters."),
  rank: param(whole(1).default(16), "Columns of A and rows of B."),
  alpha: param(
    z.number().positive().optional(),
    "The adapter's product is multiplied by alpha / rank. Default: twice the rank.",
  ),
  targets: param(
    z.union([z.literal("all"), z.array(z.enum(targets)).min(1)]).default("all"),
    "The matrices that are adapted in every layer.",
  ),
  dropout: param(
    z.number().min(0).lt(1).default(0),
    "Dropout on an adapter's inputs while it trains. Above 0, training is slower.",
  ),
});
const valueHeadsSchema = z.array(
  z.union([
    names,
    z.strictObject({
      name: names,
      words: param(
        z.boolean().default(false),
        "One value for every word of the vocabulary, as a Q function of tokens has, instead of one for the state.",
      ),
      detach: param(z.boolean().default(false), "Whether the head's gradient stops before the decoder."),
    }),
  ]),
);

/** Each is looked at before anything is allocated; a hundred times as many as the deepest models have. */
const mostLayers = 10_000;

/** Where the texts come from when no file is named. */
const tasksWord = "tasks";

const tokenizer = made(
  map(
    {
      use: value(
        z.enum(["characters", "bpe"]),
        "tiny: `characters`, one token for each printable ASCII character, or `bpe`, byte pairs learned from text.",
        { default: "characters" },
      ),
      vocabulary: value(
        z.number().int().min(259).max(65_536),
        "bpe: the largest vocabulary, including the 256 bytes and three special tokens.",
        { default: 1024 },
      ),
      file: path(
        [tasksWord],
        "text",
        "bpe: a text file to learn from, a folder whose tokenizer.json is used, or `tasks` for the tasks' own texts.",
        { default: tasksWord },
      ),
    },
    "tiny: how it turns text into tokens.",
    "use",
  ),
  ({ use, vocabulary, file }): TokenizerConfig =>
    use === "characters" ? { use } : { use, vocabulary, file: file === tasksWord ? undefined : file },
);

/** What a model is made of: the policy, and any other of the registry. By default a tiny one of 0.86 million parameters. */
const modelFields = {
  base: path(
    ["tiny"],
    "model",
    "`tiny`, a Hugging Face folder, a .gguf file, or a checkpoint of an earlier run.",
    { default: "tiny" },
  ),
  width: value(whole(8), "tiny: width of the residual stream.", { default: 128 }),
  layers: value(whole(1).max(mostLayers), "tiny: number of layers.", { default: 4 }),
  heads: value(whole(1), "tiny: attention heads; divides `width`.", { default: 4 }),
  kv_heads: value(whole(1), "tiny: key and value heads; divides `heads`. Default: `heads`."),
  hidden: value(whole(8), "tiny: width inside the SwiGLU block.", { default: 384 }),
  context: value(whole(8), "Longest prompt + response, in tokens.", { default: 128 }),
  tied: value(z.boolean(), "tiny: whether the output head shares the embedding.", { default: true }),
  tokenizer,
  adapter: made(
    value(
      adapterSchema,
      "Trains low-rank adapters instead of the weights. The reference policy then needs no weights of its own.",
    ),
    (written): ModelConfig["adapter"] => {
      if (written === undefined) return undefined;
      const { rank, alpha = 2 * rank, targets: chosen, dropout } = written;
      return { rank, alpha, targets: chosen === "all" ? targets : chosen, dropout };
    },
  ),
  value_heads: made(
    value(
      valueHeadsSchema,
      "Linear maps from the final state to one number per token (or one for every word). Objectives read them as `head:<name>`.",
    ),
    (heads = []) =>
      heads.map((head) => (typeof head === "string" ? { name: head, words: false, detach: false } : head)),
  ),
};

function modelOf(read: Built<typeof modelFields>): ModelConfig {
  const { base, width, layers, heads, kv_heads = heads, hidden, context, tied } = read;
  const size = { width, layers, heads, kv_heads, hidden, context, tied };
  return { base, size, tokenizer: read.tokenizer, adapter: read.adapter, heads: read.value_heads };
}

export const model = made(
  map(modelFields, "The policy, the model that is trained. The same as `models.policy`.", "base"),
  modelOf,
);

const policy = { to: "model", also: ["policy"] } as const;
const emaSchema = z.strictObject({
  of: param(refers(policy).default("policy"), "The model that the copy follows."),
  decay: param(z.number().min(0).lt(1).default(0.99), "Share of the copy that stays at each update."),
});
const polyakSchema = z.strictObject({
  of: param(refers(policy).default("policy"), "The model that the copy follows."),
  every: param(z.number().int().min(1).default(1), "Updates of that model between two updates of the copy."),
  tau: param(
    z.number().gt(0).max(1).default(0.005),
    "Share of the update that comes from the model; 1: a plain copy.",
  ),
});

/** What a multilayer perceptron is made of. */
const perceptronFields = {
  // Without `inputs`, which a rule asks for, it has one: the rest of the config can still be looked at.
  inputs: made(value(whole(1), "mlp: the number of features in a row."), (inputs) => inputs ?? 1),
  widths: made(
    value(z.array(whole(1)), "mlp: widths of the hidden layers. Default: [64, 64]."),
    (widths) => widths ?? [64, 64],
  ),
  outputs: made(
    value(whole(1), "mlp: the number of outputs for a row. Default: 1."),
    (outputs) => outputs ?? 1,
  ),
  activation: made(
    value(z.enum(activations), "mlp: the activation between its layers. Default: relu."),
    (activation) => activation ?? "relu",
  ),
};
export const perceptronKeys: readonly string[] = Object.keys(perceptronFields);

const itemFields = {
  ...modelFields,
  kind: value(
    z.enum(["lm", "mlp"]),
    "lm (the default): a language model; mlp: a multilayer perceptron over features that a method makes.",
  ),
  ...perceptronFields,
  trains: value(z.boolean(), "Whether a method may train the model. It is frozen otherwise."),
  optimizer: choice("optimizer", "The optimiser of the model. Needed where the model trains."),
  ema: value(
    emaSchema,
    "Instead of a base: a moving average that is updated after every update of its model, by `decay`.",
  ),
  polyak: value(
    polyakSchema,
    "Instead of a base: a copy that moves towards its model by `tau` every so many updates.",
  ),
};

/** What the item does not say is as in the default policy. */
function registered(name: string, read: Built<typeof itemFields>): RegisteredModelConfig {
  const { ema, polyak, inputs, widths, outputs, activation } = read;
  if (ema !== undefined) return { name, kind: "copy", every: 1, ...ema };
  if (polyak !== undefined)
    return { name, kind: "copy", of: polyak.of, every: polyak.every, decay: 1 - polyak.tau };
  const optimizer = read.trains === true ? read.optimizer : undefined;
  if (read.kind === "mlp")
    return { name, kind: "perceptron", shape: { inputs, widths, outputs, activation }, optimizer };
  return { name, kind: "opened", model: modelOf(read), optimizer };
}

const item = entry(itemFields, { short: "base", defaults: {} });

export const models = namedMap(
  "model",
  { ...item, read: (at) => registered(at.name, item.read(at)) },
  "Models other than the policy, by name: frozen ones that score or generate, ones that train, and copies.",
);
