/** What a policy is opened with, and what it offers beyond the seam. */
import { UserError } from "../../shared/lib/errors.ts";
import type { OptimizerChoice } from "../core/slots/optimizer.ts";
import type { OpenWeights } from "./formats/model.ts";
import type { Model } from "../core/basics.ts";
import type { Policy, UpdatePlan, Weigh } from "../core/policy.ts";
import type { Batch } from "../core/rollouts.ts";
import type { OptimizerState } from "./weights/optimizer.ts";
import type { ValueHead } from "../core/blocks/models.ts";
import type { Runtime } from "./devices/runtime.ts";
import type { PolicyTokenizer } from "./tokenizers/types.ts";
import { checkSameTokens } from "./tokenizers/index.ts";
import type { Budget } from "./memory.ts";
import type { Adapter } from "./transformer/lowRank.ts";
import type { Shape } from "./transformer/weights.ts";

export interface Backend {
  readonly name: "native" | "wasm" | "webgpu";
  /** Why this one, as a sentence. */
  readonly reason: string;
  readonly device: string;
}

export interface TrainablePolicy extends Policy {
  readonly tokenizer: PolicyTokenizer;
  readonly backend: Backend;
  readonly parameters: number;
  /** Columns of its logits: the tokenizer's size, or more where the embedding is padded. */
  readonly vocabulary: number;
  /** Weights, optimiser state, config and tokenizer into a folder; an existing one is replaced when the new one is whole. */
  save(folder: string): Promise<void>;
  /**
   * Weights, optimiser state and version from a folder that `save` wrote. Snapshots stay.
   * @param version in the place of the one that was saved
   */
  load(folder: string, version?: number): Promise<void>;
  /** Other hyper-parameters from the next update on; `reset` also forgets the moments and restarts the warm-up. */
  setOptimizer(choice: OptimizerChoice, options: { readonly reset: boolean }): void;
  resetOptimizer(): void;
  /** What an optimiser of an update's own remembers (`UpdatePlan.optimizer`); undefined before its first step. */
  readOptimizer(name: string): OptimizerState | undefined;
  /** Takes up what `readOptimizer` returned. */
  writeOptimizer(name: string, choice: OptimizerChoice, state: OptimizerState): void;
  /** Names that `score` and `generate` know in addition to `policy`. */
  readonly snapshots: readonly Model[];
  /** Values of all that trains, of the policy or of a snapshot, in the engine's own layout: every weight, or the adapter's; and the heads'. */
  readTrained(of?: Model): Record<string, Float32Array>;
  /** The gradient by all that trains, without a step. Empty where no token has a coefficient. */
  gradients(batch: Batch, plan: UpdatePlan, weigh: Weigh): Record<string, Float32Array>;
  /** The same as `readTrained` of another run's checkpoint, whose adapter has this one's base. @throws UserError where it does not */
  readAdapterIn(folder: string): Record<string, Float32Array>;
  /**
   * Replaces all that trains of the policy, what the optimiser keeps and the version staying, or makes a snapshot of it.
   * @throws UserError naming a weight that is missing or of another size
   */
  writeWeights(values: Readonly<Record<string, Float32Array>>, of?: Model): void;
  /** Lets `logp:<name>` and `kl:<name>:…` mean another policy with the same vocabulary. It stays the caller's to close. */
  attach(name: Model, other: TrainablePolicy): void;
  /** All that trains of the policy as another process trained it: `version` becomes the version. */
  adopt(values: Readonly<Record<string, Float32Array>>, version: number): void;
  /** The device, for models that are opened after this one and closed before it. */
  share(): Pick<PolicySetup, "runtime" | "backend">;
  /** Of each text, the mean over its tokens of the stream as embedded, then after each layer: by depth, then by text. */
  layerMeans(texts: readonly Int32Array[]): Promise<readonly (readonly Float32Array[])[]>;
  /** Handles alive on the device. */
  counters(): { readonly tensors: number };
  close(): void;
}

export interface PolicySetup extends Budget {
  readonly runtime: Runtime;
  readonly backend: Backend;
  readonly shape: Shape;
  readonly tokenizer: PolicyTokenizer;
  /** The decoder's weights: read to begin, and again where they are needed as they are, to be trained or saved. */
  readonly weights: OpenWeights;
  /** Whether the weights lie in files: what trains is then read from these again when it is first needed. */
  readonly stored: boolean;
  /**
   * Of a large model: nothing is held twice that can be read or computed again. A small one takes no such detours.
   */
  readonly lean: boolean;
  /** A checkpoint folder to continue. */
  readonly from?: string | undefined;
  readonly heads?: readonly ValueHead[];
  /** Trains in the place of the decoder's weights. */
  readonly adapter?: Adapter | undefined;
  /** Path of an adapter's base model; undefined: its weights were drawn, and are saved with it. */
  readonly base?: string | undefined;
  /** Of the adapter's beginning. */
  readonly seed?: number;
  readonly optimizer: OptimizerChoice;
}

export const unknownModel = (name: Model, known: Iterable<Model>): UserError =>
  new UserError(`There is no model ${name} in this run.`, {
    code: "model-unknown",
    action: `Known models: ${["policy", ...known].join(", ")}.`,
  });

/** @throws UserError where the logits of two models do not mean the same tokens, column by column */
export function checkComparable(name: Model, other: TrainablePolicy, policy: TrainablePolicy): void {
  const code = "model-vocabulary";
  const so = "their distributions cannot be compared";
  checkSameTokens(
    { name: `The model ${name}`, tokenizer: other.tokenizer },
    { name: "the policy", tokenizer: policy.tokenizer },
    { code, so, action: "Use a model with the policy's own tokenizer, or take its score as a reward term." },
  );
  if (other.vocabulary === policy.vocabulary) return;
  throw new UserError(
    `The model ${name} has logits for ${other.vocabulary} tokens and the policy for ${policy.vocabulary}, so ${so}.`,
    {
      code,
      action: "Compare log-probs of the generated tokens instead, or use a model with as many logits.",
    },
  );
}
