/** Prompts and rollouts: SkyRL counts prompts, before they are multiplied by `n_samples_per_prompt`. */
import type { StageConfig } from "../../../core/config/stageConfig.ts";
import { divisorUpTo } from "../divisorUpTo.ts";
import type { SkyrlDraft } from "./draft.ts";

export interface Batch {
  readonly prompts: number;
  readonly group: number;
  /** Prompts of an update. */
  readonly mini: number;
  /** Updates of a step. */
  readonly updates: number;
  readonly steps: number;
}

/** Prompts of an update, in equal parts of a step. @param rows rollouts that are wanted */
export function promptsOf(
  rows: number,
  { prompts, group }: { readonly prompts: number; readonly group: number },
): number {
  return divisorUpTo(prompts, Math.max(1, Math.floor(rows / group)));
}

export function batchOf({ body, steps }: StageConfig, draft: SkyrlDraft): Batch {
  const { prompts, group } = body.rollout;
  const wanted = Math.min(body.update.mini_batch ?? prompts * group, prompts * group);
  const mini = promptsOf(wanted, { prompts, group });
  if (mini * group !== wanted)
    draft.miss(
      "update.mini_batch",
      wanted,
      `SkyRL's updates have whole groups, in equal parts of a step: it takes ${mini} × ${group} rollouts at once.`,
    );
  draft.set("trainer.train_batch_size", prompts);
  draft.set("generator.n_samples_per_prompt", group);
  draft.set("trainer.policy_mini_batch_size", mini);
  draft.set("trainer.update_epochs_per_batch", body.update.epochs);
  draft.set("trainer.max_training_steps", steps);
  return { prompts, group, mini, updates: (prompts / mini) * body.update.epochs, steps };
}
