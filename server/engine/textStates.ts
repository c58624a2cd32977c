/** A model's states of texts, as the seam has it. */
import type { Model } from "../core/basics.ts";
import type { States } from "../core/states.ts";
import { anglesOf } from "./angles.ts";
import { cutRows } from "./passes/cut.ts";
import { embeddingsOf, layerMeansOf, nextLogitsOf } from "./embeddings.ts";
import type { MicroBatch, TokenRow } from "./passes/layout.ts";
import type { Engine } from "./passes/passes.ts";
import type { PolicySetup } from "./policySetup.ts";

/** Texts as rows of which every token is read. */
const textRows = (texts: readonly Int32Array[], pad: number): TokenRow[] =>
  texts.map((tokens, row) => ({
    row,
    column: row,
    // A row's last token is only ever a target.
    tokens: Int32Array.from([...tokens, pad]),
    context: tokens.length,
  }));

export interface TextStates extends States {
  /** Means over each text's tokens of the stream: as embedded, then after each layer. By depth, then by text, none of them empty. */
  layerMeans(texts: readonly Int32Array[]): Promise<readonly (readonly Float32Array[])[]>;
}

/** @param releaseMerged gives back what reading has merged */
export function textStates(
  setup: PolicySetup,
  engineOf: (model: Model) => Engine,
  releaseMerged: () => void,
): TextStates {
  const read = async <T>(
    texts: readonly Int32Array[],
    model: Model,
    by: (engine: Engine, micros: readonly MicroBatch[]) => T,
  ): Promise<T> => {
    try {
      return by(engineOf(model), cutRows(setup, textRows(texts, setup.tokenizer.pad))());
    } finally {
      releaseMerged();
    }
  };
  return {
    angles: (prompts, model = "policy") => {
      const texts = prompts.map(({ tokens }) => tokens);
      return read(texts, model, (engine, micros) => anglesOf(engine, micros, prompts));
    },
    embed: (texts, pooling, model = "policy") =>
      read(texts, model, (engine, micros) => embeddingsOf(engine, micros, texts, pooling)),
    nextLogits: (texts, model = "policy") =>
      read(texts, model, (engine, micros) => nextLogitsOf(engine, micros, texts)),
    layerMeans: (texts) => read(texts, "policy", (engine, micros) => layerMeansOf(engine, micros, texts)),
  };
}
