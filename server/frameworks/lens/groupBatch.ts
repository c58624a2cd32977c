/** Prompts and rollouts, for a trainer that counts prompts before they are multiplied by the group's size. */
import type { StageConfig } from "../../core/config/stageConfig.ts";
import { divisorUpTo } from "./divisorUpTo.ts";
import type { SettingsDraft } from "./exportDraft.ts";

export interface Batch {
  readonly prompts: number;
  readonly group: number;
  /** Prompts of an update. */
  readonly mini: number;
  /** Updates of a step. */
  readonly updates: number;
  readonly steps: number;
}

/** The trainer's keys. */
type BatchKeys = Readonly<Record<"prompts" | "group" | "mini" | "epochs" | "steps", string>>;

/** Prompts of an update, in equal parts of a step. @param rows rollouts that are wanted */
export function promptsOf(
  rows: number,
  { prompts, group }: { readonly prompts: number; readonly group: number },
): number {
  return divisorUpTo(prompts, Math.max(1, Math.floor(rows / group)));
}

export function groupBatch({ body, steps }: StageConfig, keys: BatchKeys, draft: SettingsDraft): Batch {
  const { prompts, group } = body.rollout;
  const wanted = Math.min(body.update.mini_batch ?? prompts * group, prompts * group);
  const mini = promptsOf(wanted, { prompts, group });
  if (mini * group !== wanted)
    draft.miss(
      "update.mini_batch",
      wanted,
      `${draft.engine}'s updates have whole groups, in equal parts of a step: it takes ${mini} × ${group} rollouts at once.`,
    );
  draft.set(keys.prompts, prompts);
  draft.set(keys.group, group);
  draft.set(keys.mini, mini);
  draft.set(keys.epochs, body.update.epochs);
  draft.set(keys.steps, steps);
  return { prompts, group, mini, updates: (prompts / mini) * body.update.epochs, steps };
}
