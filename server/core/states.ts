/** A model's states of texts. */
import type { Model } from "./basics.ts";

/** A prompt's tokens, and where in it the question is: tokens [from, to). */
export interface Questioned {
  readonly tokens: Int32Array;
  readonly from: number;
  readonly to: number;
}
/**
 * Mean cosines of the states that a model's last feed-forward reads, by prompt, in [−1, 1]: of all pairs of the question's
 * tokens, each with itself included; and of its tokens with those before it. 0 where there are no such tokens.
 */
export interface Angles {
  readonly intra: Float64Array;
  readonly inter: Float64Array;
}
/** What of a text's states its vector is. */
export type Pooling = "last" | "mean";

/** Nothing of it has a gradient; default: of the model as it is. */
export interface States {
  /** One forward pass over each prompt. */
  angles(prompts: readonly Questioned[], model?: Model): Promise<Angles>;
  /** Vectors of texts, none of them empty: final states, those after the last norm, of the last token or in the mean. */
  embed(texts: readonly Int32Array[], pooling: Pooling, model?: Model): Promise<readonly Float32Array[]>;
  /** Logits of the token after each text, none of them empty. */
  nextLogits(texts: readonly Int32Array[], model?: Model): Promise<readonly Float32Array[]>;
}
