/** Prompts of a step, and rollouts of an update: `rollout.batch_size` counts the ones, `train.batch_size` the others. */
import type { StageConfig } from "../../../../core/config/stageConfig.ts";
import { divisorUpTo } from "../../../lens/divisorUpTo.ts";
import type { OpenRlhfDraft } from "./draft.ts";

export interface Batch {
  readonly prompts: number;
  readonly group: number;
  /** Rollouts of an update. */
  readonly mini: number;
  /** Updates of a step. */
  readonly updates: number;
  readonly steps: number;
}

export function batchOf({ body, steps }: StageConfig, draft: OpenRlhfDraft): Batch {
  const { prompts, group } = body.rollout;
  const whole = prompts * group;
  const wanted = Math.min(body.update.mini_batch ?? whole, whole);
  const mini = divisorUpTo(whole, wanted);
  if (mini !== wanted)
    draft.miss(
      "update.mini_batch",
      wanted,
      `OpenRLHF's updates share the ${whole} rollouts of a step in equal parts: it takes ${mini} at once.`,
    );
  draft.set("rollout.batch_size", prompts);
  draft.set("rollout.n_samples_per_prompt", group);
  draft.set("train.batch_size", mini);
  draft.set("train.max_epochs", body.update.epochs);
  // OpenRLHF has no number of steps: it ends with its data.
  draft.set("data.max_samples", prompts * steps);
  draft.set("train.num_episodes", 1);
  return { prompts, group, mini, updates: (whole / mini) * body.update.epochs, steps };
}
