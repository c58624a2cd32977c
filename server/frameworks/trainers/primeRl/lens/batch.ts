/** Prompts and rollouts: prime-rl counts rollouts, and takes one step of its optimiser on a batch. */
import type { StageConfig } from "../../../../core/config/stageConfig.ts";
import type { PrimeDraft } from "./draft.ts";
import { orchestrator } from "./keys.ts";

export interface Batch {
  readonly prompts: number;
  readonly group: number;
  readonly steps: number;
}

/** Of this share of its bound prime-rl begins at once, the rest some seconds later. */
const atOnce = 10;

export function batchOf({ body, steps }: StageConfig, draft: PrimeDraft): Batch {
  const { prompts, group } = body.rollout;
  const rollouts = prompts * group;
  const { mini_batch: mini = rollouts, epochs } = body.update;
  if (mini < rollouts)
    draft.miss(
      "update.mini_batch",
      mini,
      `prime-rl takes one step of its optimiser on all ${rollouts} rollouts.`,
    );
  if (epochs !== 1) draft.miss("update.epochs", epochs, "prime-rl trains on each rollout once.");
  draft.set("max_steps", steps);
  draft.set(`${orchestrator}.batch_size`, rollouts);
  draft.set(`${orchestrator}.group_size`, group);
  // curriculum.py hands out a step's tasks alone: neither an older rollout nor more of them than these is under way.
  draft.set(`${orchestrator}.max_off_policy_steps`, 0);
  for (const bound of ["initial", "min", "max"])
    draft.set(`${orchestrator}.concurrency.${bound}_inflight`, atOnce * rollouts);
  return { prompts, group, steps };
}
