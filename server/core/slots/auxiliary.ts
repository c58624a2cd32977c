/** What the auxiliary slot is made of. */
import type { Model } from "../basics.ts";

/** What an auxiliary loss learns from. */
export type AuxiliaryData =
  /** The written solutions of tasks: of those that the trigger names, else of tasks drawn by weight. */
  | { readonly from: "solutions" }
  /** The policy's own successes, the newest `capacity` of them. */
  | { readonly from: "successes"; readonly capacity: number }
  /** What should have been thought in the rollouts of this step and of earlier ones, the newest `capacity` corrections. */
  | {
      readonly from: "corrections";
      readonly capacity: number;
      readonly of: "all" | "wrong";
      /** Of the thought in a response; empty: all of it is. */
      readonly tag: string;
      /** Who corrects; absent: the task's written solution. */
      readonly corrector?: { readonly model: Model; readonly ask: string; readonly max_tokens?: number };
    }
  /** Recorded rollouts or demonstrations, one JSON object a line. */
  | { readonly from: "file"; readonly path: string; readonly heldOut: "leave_out" | "train" }
  /** Plain text, cut into pieces of so many tokens. */
  | { readonly from: "text"; readonly path: string; readonly length: number };

/** A loss in addition to the objective, or something that is done to all losses. */
export type Auxiliary =
  | {
      readonly kind: "likelihood";
      readonly data: AuxiliaryData;
      /** Sequences each time. */
      readonly rows: number;
      /** Coefficient of an entropy bonus over the same tokens. */
      readonly entropy: number;
      /** Coefficient on what the tokens' log-probs lack of the likeliest tokens'. */
      readonly gap: number;
    }
  /** Weights of all losses of the step, from their own last two windows. */
  | { readonly kind: "reweighting"; readonly window: number; readonly temperature: number }
  /** The share μ of likelihoods beside the objective, moved by the policy's entropy and by gradients. */
  | {
      readonly kind: "mixing";
      readonly start: number;
      readonly low: number;
      readonly high: number;
      /** The entropy that is aimed at, in nats a token; first: that of the first rollouts. */
      readonly entropy: "first" | number;
      readonly entropyRate: number;
      readonly metaRate: number;
      /** Steps from one comparison of gradients to the next. */
      readonly every: number;
    }
  /**
   * A model that learns an objective of its own: before the advantages, from rollouts that it remembers, or after them
   * from those of the step.
   */
  | {
      readonly kind: "learner";
      readonly model: string;
      readonly rollouts: "memory" | "step";
      /** Rollouts remembered. */
      readonly capacity: number;
      /** Rollouts of each update; all that are remembered where they are fewer. */
      readonly rows: number;
      /** Updates a step; rounds over the step's rollouts. */
      readonly updates: number;
      /** What counts alike in the loss. */
      readonly each: "rollout" | "turn" | "step" | "token";
    }
  /** A model that writes the step's tasks learns from how they went, a group of texts for each request. */
  | {
      readonly kind: "author";
      readonly model: Model;
      /** What a text earns: its task's mean reward, or the share of its rollouts that fail. */
      readonly pays: "reward" | "failure";
      /** What a text earns that gave the step no task. */
      readonly refused: number;
      /** Divisor of the advantages, in addition to the deviation; undefined: no deviation divides them. */
      readonly epsilon: number | undefined;
      /** What counts alike in the loss. */
      readonly each: "rollout" | "token";
      /** Updates a step. */
      readonly updates: number;
      /** Divergence from another model, added to the loss. */
      readonly kl: { readonly model: Model; readonly coefficient: number } | undefined;
    }
  /** Each sequence's gradient is clipped to a norm; Gaussian noise of `noise` × that norm is added to the sum. */
  | { readonly kind: "privacy"; readonly clip: number; readonly noise: number; readonly delta: number };
