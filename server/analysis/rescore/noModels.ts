/** A context without models: rewards that score with a model or count tokens by text have none here. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { Models, Tokenizer } from "../../core/policy.ts";

const noModel = (name: string): never => {
  throw new UserError(`a reward asked for model "${name}", but re-scoring runs no models`, {
    code: "rescore-model",
    action: "Score such a term in a run.",
  });
};
export const noModels: Models = { names: [], get: noModel, perceptron: noModel };

const noText = (): never => {
  throw new UserError("a reward asked for a tokenizer, but re-scoring has none", {
    code: "rescore-tokenizer",
    action: "Score such a term in a run.",
  });
};
export const noTokenizer: Tokenizer = { size: 0, eos: 0, pad: 0, encode: noText, decode: noText };
