/** What is asked and told of the angles between a model's states. */

/** A prompt's tokens, and where in it the question stands: tokens [from, to). */
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
