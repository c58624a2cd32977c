/** The keys of a model: the policy's, and those of `models`. */
import { z } from "zod";
import { activations } from "../../core/blocks/models.ts";
import { short, slot, value, whole } from "./fields.ts";
import { refers } from "../../core/references.ts";
import { tokenizerFields } from "./modelTokenizer.ts";
import type { Fields, Shape } from "./shape.ts";

const names = z.string().regex(/^[A-Za-z_][\w-]*$/, "must be a word");
export const adapterSchema = z.strictObject({
  use: z.literal("lora").default("lora").describe("Low-rank adapters."),
  rank: whole(1).default(16).describe("Columns of A and rows of B."),
  alpha: z
    .number()
    .positive()
    .optional()
    .describe("The product counts alpha / rank; default: twice the rank."),
  targets: z
    .union([z.literal("all"), z.array(z.enum(["q", "k", "v", "o", "gate", "up", "down"])).min(1)])
    .default("all")
    .describe("The matrices of every layer that are adapted."),
  dropout: z
    .number()
    .min(0)
    .lt(1)
    .default(0)
    .describe("Share of an adapter's inputs that are left out while it trains; above 0 training is slower."),
});
export const valueHeadsSchema = z.array(
  z.union([
    names,
    z.strictObject({
      name: names,
      words: z
        .boolean()
        .default(false)
        .describe(
          "A value for every word of the vocabulary, as a Q of tokens has, and not one for the state.",
        ),
      detach: z.boolean().default(false).describe("Its gradient stops before the decoder."),
    }),
  ]),
);

/** Each is looked at before anything is allocated; a hundred times as many as the deepest models have. */
const mostLayers = 10_000;

/** What a model is made of: the policy, and any other of the registry. */
export const modelFields: Fields = {
  base: {
    shape: { kind: "path", words: ["tiny"], what: "model" },
    summary: "`tiny`, a Hugging Face folder, a .gguf file, or a checkpoint of an earlier run.",
  },
  width: value(whole(8), "tiny: width of the residual stream."),
  layers: value(whole(1).max(mostLayers), "tiny: number of layers."),
  heads: value(whole(1), "tiny: attention heads; divides `width`."),
  kv_heads: value(whole(1), "tiny: key and value heads; divides `heads`. Default: `heads`."),
  hidden: value(whole(8), "tiny: width inside the SwiGLU block."),
  context: value(whole(8), "Longest prompt + response, in tokens."),
  tied: value(z.boolean(), "tiny: the output head shares the embedding."),
  tokenizer: short("use", tokenizerFields, "tiny: how it reads text."),
  adapter: value(
    adapterSchema,
    "Trains low-rank adapters in the place of the weights; the reference then costs nothing.",
  ),
  value_heads: value(
    valueHeadsSchema,
    "Linear maps from the final state to a number per token (or to one for every word), which objectives read as `head:<name>`.",
  ),
};

const policy = { to: "model", also: ["policy"] } as const;
const ema = {
  of: refers(policy).default("policy").describe("The model that the copy follows."),
  decay: z.number().min(0).lt(1).default(0.99).describe("Share that stays of the copy at each update."),
};
const polyak = {
  of: refers(policy).default("policy").describe("The model that the copy follows."),
  every: z.number().int().min(1).default(1).describe("Updates of that model between two moves of the copy."),
  tau: z.number().gt(0).max(1).default(0.005).describe("Share that comes from the model; 1: a plain copy."),
};
export const emaSchema = z.strictObject(ema);
export const polyakSchema = z.strictObject(polyak);

/** What a multilayer perceptron is made of. */
const perceptron = {
  inputs: whole(1),
  widths: z.array(whole(1)).default([64, 64]),
  outputs: whole(1).default(1),
  activation: z.enum(activations).default("relu"),
};
export const perceptronSchema = z.object(perceptron);
export const perceptronKeys: readonly string[] = Object.keys(perceptron);
const perceptronFields: Fields = {
  inputs: value(perceptron.inputs, "mlp: numbers in a row of features."),
  widths: value(perceptron.widths.unwrap(), "mlp: widths of the hidden layers. Default: [64, 64]."),
  outputs: value(perceptron.outputs.unwrap(), "mlp: numbers it gives for a row. Default: 1."),
  activation: value(perceptron.activation.unwrap(), "mlp: between its layers. Default: relu."),
};

/** One model of `models`: opened from a base, or a copy that follows another. */
export const modelItem: Shape & { kind: "map" } = {
  kind: "map",
  short: "base",
  fields: {
    ...modelFields,
    kind: value(
      z.enum(["lm", "mlp"]),
      "lm (the default): a language model; mlp: a multilayer perceptron over features that a method makes.",
    ),
    ...perceptronFields,
    trains: value(z.boolean(), "Whether a method may train it; frozen otherwise."),
    optimizer: slot("optimizer", "How its gradients move its weights; needed where it trains."),
    ema: value(emaSchema, "Instead of a base: an average that moves after every update, by `decay`."),
    polyak: value(polyakSchema, "Instead of a base: a copy that moves by `tau` every so many updates."),
  },
};
