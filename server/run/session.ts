/** What a run holds while it works: its config, its policy, what it writes to, and how it is told to end. */
import type { RunConfig } from "../config/resolved.ts";
import type { TrainablePolicy } from "../policy/index.ts";
import type { Models, Policy } from "../seams.ts";
import type { Recorder } from "./recorder.ts";

export interface Session {
  readonly config: RunConfig;
  readonly policy: TrainablePolicy;
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
