/** Prompts and rollouts: verl counts prompts, before they are multiplied by `rollout.n`. */
import type { StageConfig } from "../../../core/config/stageConfig.ts";
import type { VerlDraft } from "./draft.ts";
import { actor, rollout } from "./keys.ts";
import { divisorUpTo } from "../divisorUpTo.ts";

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

export function batchOf({ body, steps }: StageConfig, draft: VerlDraft): Batch {
  const { prompts, group } = body.rollout;
  const wanted = Math.min(body.update.mini_batch ?? prompts * group, prompts * group);
  const mini = promptsOf(wanted, { prompts, group });
  if (mini * group !== wanted)
    draft.miss(
      "update.mini_batch",
      wanted,
      `verl's updates have whole groups, in equal parts of a step: it takes ${mini} × ${group} rollouts at once.`,
    );
  draft.set("data.train_batch_size", prompts);
  draft.set(`${rollout}.n`, group);
  draft.set(`${actor}.ppo_mini_batch_size`, mini);
  draft.set(`${actor}.ppo_epochs`, body.update.epochs);
  draft.set("trainer.total_training_steps", steps);
  return { prompts, group, mini, updates: (prompts / mini) * body.update.epochs, steps };
}
