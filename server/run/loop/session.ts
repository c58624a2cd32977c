/** What a run holds while it works: its config, its policy, what it writes to, and how it is asked to end. */
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { TrainablePolicy } from "../../engine/index.ts";
import type { Clock } from "../../core/basics.ts";
import type { RewardContext } from "../../core/reward.ts";
import type { RunModels } from "../models/models.ts";
import type { FailedSteps } from "./failedSteps.ts";
import type { Recorder } from "../step/log/recorder.ts";

export interface Session {
  /** Its id; absent where nothing is kept. */
  readonly run?: string;
  /** Another one from the step on at which a value is set. */
  config: RunConfig;
  readonly policy: TrainablePolicy;
  /** The policy and every other model of the run, as methods reach them. */
  readonly models: RunModels;
  readonly recorder: Recorder;
  readonly failed: FailedSteps;
  /** Aborted by `stop --now`: what is in flight is given up. */
  readonly signal: AbortSignal;
  /**
   * Awaited between two tokens of a step's rollouts: waits while the run is paused.
   * @throws Interrupted where the step in flight is to be given up for what was asked
   */
  readonly between: () => Promise<void>;
}

/** What reward terms are called with. */
export const rewardContext = ({ models, policy, signal }: Session, clock: Clock): RewardContext => ({
  models,
  tokenizer: policy.tokenizer,
  clock,
  signal,
});

/** The step in flight was given up before anything was trained on it. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}
