/** What every model format gives before and after its weights are read. */
import type { Room } from "../devices/scratch.ts";
import type { PolicyTokenizer } from "../tokenizers/types.ts";
import { weightShapes, type Shape } from "../transformer/weights.ts";

/** What can be known without reading the weights. */
export interface ModelHead {
  /** checkpoint: a Hugging Face folder with our optimiser state; huggingface: one of anybody's; gguf: one file. */
  readonly kind: "checkpoint" | "huggingface" | "gguf";
  readonly path: string;
  readonly shape: Shape;
  readonly tokenizer: PolicyTokenizer;
}

/** Values of every weight by its own name, in the layout of `transformer/weights.ts`. */
export type Weights = Readonly<Record<string, Float32Array>>;

/** The same, read one at a time: a model of which there is never more on this side than one weight. */
export interface WeightReader {
  /** @param room where to; by itself a new array. @throws UserError naming the file and what is wrong with it */
  read(name: string, room?: Room): Float32Array;
  close(): void;
}
export type OpenWeights = () => WeightReader;

/** Weights that are read whenever they are looked at, so that a writer that takes one after another holds one. */
export const lazyWeights = (names: readonly string[], read: (name: string) => Float32Array): Weights =>
  Object.defineProperties(
    {},
    Object.fromEntries(names.map((name) => [name, { enumerable: true, get: () => read(name) }])),
  );

/** Calls back with an open reader. */
export function reading<R>(open: OpenWeights, use: (read: WeightReader["read"]) => R): R {
  const reader = open();
  try {
    return use((name, room) => reader.read(name, room));
  } finally {
    reader.close();
  }
}
/** All weights of a model at once. */
export const readEvery = (shape: Shape, open: OpenWeights): Record<string, Float32Array> =>
  reading(open, (read) =>
    Object.fromEntries(Object.keys(weightShapes(shape)).map((name) => [name, read(name)])),
  );
