/** What the auxiliary slot is made of; part of the seams. */

/** What an auxiliary loss learns from. */
export type AuxiliaryData =
  /** The written solutions of tasks: of those that the trigger names, else of tasks drawn by weight. */
  | { readonly from: "solutions" }
  /** The policy's own successes, the newest `capacity` of them. */
  | { readonly from: "successes"; readonly capacity: number }
  /** Recorded rollouts or demonstrations, one JSON object a line. */
  | { readonly from: "file"; readonly path: string }
  /** Plain text, cut into pieces of so many tokens. */
  | { readonly from: "text"; readonly path: string; readonly length: number };

/** A loss beside the objective, or something that is done to all losses. */
export type Auxiliary =
  | {
      readonly kind: "likelihood";
      readonly data: AuxiliaryData;
      /** Sequences each time. */
      readonly rows: number;
      /** Coefficient of an entropy bonus over the same tokens. */
      readonly entropy: number;
    }
  /** Weights of all losses of the step, from their own last two windows. */
  | { readonly kind: "reweighting"; readonly window: number; readonly temperature: number }
  /** Each sequence's gradient is clipped to a norm; Gaussian noise of `noise` × that norm is added to the sum. */
  | { readonly kind: "privacy"; readonly clip: number; readonly noise: number; readonly delta: number };
