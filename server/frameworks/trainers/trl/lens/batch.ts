/** Prompts and rollouts as TRL counts them: completions on a device, and steps of the optimiser. */
import { UserError } from "../../../../../shared/lib/errors.ts";
import type { StageConfig } from "../../../../core/config/stageConfig.ts";
import type { TrlDraft } from "./draft.ts";
import { divisorUpTo } from "../../../lens/divisorUpTo.ts";

/** Completions that a device reads at once: it bounds memory and changes no result. */
const mostOnDevice = 8;

export interface Batch {
  /** Rollouts of a step of Gradus. */
  readonly generated: number;
  readonly mini: number;
  /** Of the optimiser, per step of Gradus. */
  readonly updates: number;
  readonly steps: number;
}

/** @param most completions that a device reads at once, where the config says so */
export function batchOf({ body, steps }: StageConfig, most: number | undefined, draft: TrlDraft): Batch {
  const { prompts, group } = body.rollout;
  if (group < 2)
    throw new UserError(
      `\`rollout.group\` is ${group}, and TRL's GRPO compares at least two completions of a prompt`,
      {
        code: "export-group",
        action: "Set `rollout.group` to 2 or more.",
      },
    );
  const generated = prompts * group;
  // A rule sees to it that it divides the step's rollouts.
  const mini = Math.min(body.update.mini_batch ?? generated, generated);
  const updates = (generated / mini) * body.update.epochs;
  const device = divisorUpTo(mini, most ?? mostOnDevice);
  draft.set("num_generations", group);
  draft.set("per_device_train_batch_size", device);
  draft.set("gradient_accumulation_steps", mini / device);
  draft.set("steps_per_generation", generated / device);
  draft.set("num_iterations", body.update.epochs);
  draft.set("max_steps", steps * updates);
  return { generated, mini, updates, steps };
}
