/** The models of a config: what a perceptron is made of, what an adapter acts on, how a tiny model reads text. */

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
