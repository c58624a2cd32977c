/** The policy's model and those of the registry, from a checked config. */
import { tokenizerConfig } from "../grammar/modelTokenizer.ts";
import { z } from "zod";
import { defaults } from "../grammar/defaults.ts";
import type { Json, JsonObject } from "../../../shared/json.ts";
import { type PerceptronShape, targets } from "../../core/blocks/models.ts";
import {
  adapterSchema,
  emaSchema,
  perceptronSchema,
  polyakSchema,
  valueHeadsSchema,
} from "../grammar/modelFields.ts";
import { join } from "../text/node.ts";
import { isObject, type Reader } from "./reader.ts";
import type { ModelConfig, RegisteredModelConfig } from "../../core/config/resolved.ts";

/** A model's base and size; what nobody wrote is as in the default policy. */
export function buildModel(reader: Reader, ...path: readonly string[]): ModelConfig {
  const usual = z.record(z.string(), z.json()).parse(defaults["model"]);
  const read = <Value>(schema: z.ZodType<Value>, key: string): Value =>
    schema.parse(reader.json(...path, key) ?? usual[key]);
  const heads = read(z.number(), "heads");
  return {
    base: read(z.string(), "base"),
    size: {
      width: read(z.number(), "width"),
      layers: read(z.number(), "layers"),
      heads,
      kv_heads: read(z.number().optional(), "kv_heads") ?? heads,
      hidden: read(z.number(), "hidden"),
      context: read(z.number(), "context"),
      tied: read(z.boolean(), "tied"),
    },
    tokenizer: tokenizerConfig(reader.json(...path, "tokenizer")),
    adapter: adapterOf(reader.json(...path, "adapter")),
    heads: valueHeadsSchema
      .parse(reader.json(...path, "value_heads") ?? [])
      .map((head) => (typeof head === "string" ? { name: head, words: false, detach: false } : head)),
  };
}

function adapterOf(json: Json | undefined): ModelConfig["adapter"] {
  if (json === undefined || json === null) return undefined;
  const { rank, alpha = 2 * rank, targets: chosen, dropout } = adapterSchema.parse(json);
  return { rank, alpha, targets: chosen === "all" ? targets : chosen, dropout };
}

/** Without `inputs`, which a rule asks for, it has one: the rest of the config can still be looked at. */
const perceptronOf = (own: JsonObject): PerceptronShape => perceptronSchema.parse({ inputs: 1, ...own });

export function buildModels(reader: Reader): RegisteredModelConfig[] {
  const models = reader.json("models");
  return Object.entries(isObject(models) ? models : {}).map(([name, json]): RegisteredModelConfig => {
    const own = isObject(json) ? json : {};
    if (own["ema"] !== undefined) return { name, kind: "copy", every: 1, ...emaSchema.parse(own["ema"]) };
    if (own["polyak"] !== undefined) {
      const { of, every, tau } = polyakSchema.parse(own["polyak"]);
      return { name, kind: "copy", of, every, decay: 1 - tau };
    }
    const trains = own["trains"] === true && own["optimizer"] !== undefined;
    const optimizer = trains
      ? reader.choice("optimizer", join(join("models", name), "optimizer"))
      : undefined;
    if (own["kind"] === "mlp") return { name, kind: "perceptron", shape: perceptronOf(own), optimizer };
    return { name, kind: "opened", model: buildModel(reader, "models", name), optimizer };
  });
}
