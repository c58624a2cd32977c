/** What every model format gives before and after its weights are read. */
import type { PolicyTokenizer } from "../tokenizers/index.ts";
import type { Shape } from "../transformer/weights.ts";

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
