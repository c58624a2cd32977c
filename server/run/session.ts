/** What a run holds while it works: its config, its policy, what it writes to, and how it is told to end. */
import type { OptimizerChoice } from "../config/declaration.ts";
import type { RunConfig } from "../config/resolved.ts";
import type { Models, Policy } from "../seams.ts";
import type { Recorder } from "./recorder.ts";

/** What the loop needs of a policy beyond the seam that methods see. */
export interface Trainable extends Policy {
  /** Number of weights. */
  readonly parameters: number;
  readonly backend: { readonly name: string; readonly reason: string; readonly device: string };
  /** The optimiser from here on; its moments stay. */
  setOptimizer(choice: OptimizerChoice): void;
  /** Forgets moments and warm-up. */
  resetOptimizer(): void;
  /** Weights, snapshots, optimiser and version into a folder that exists. */
  save(folder: string): Promise<void>;
  load(folder: string): Promise<void>;
  close(): Promise<void>;
}

export interface Session {
  readonly config: RunConfig;
  readonly policy: Trainable;
  readonly models: Models;
  readonly recorder: Recorder;
  /** Aborted by `stop --now`: what is in flight is given up. */
  readonly signal: AbortSignal;
  /** Asked between decode runs: whether the step in flight should be given up for a stop at the last boundary. */
  readonly interrupted: () => boolean;
}

/** The step in flight was given up before anything was trained on it. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/** The registry that methods see. `reference` and other snapshots are reached through the policy that holds them. */
export const modelsOf = (policy: Policy): Models => ({
  names: ["policy"],
  get: (name) => {
    if (name === "policy") return policy;
    throw new RangeError(`no model is called ${name}; there is policy`);
  },
});
