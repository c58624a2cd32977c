import { changes } from "../../../../rules/multiples.ts";
import { openrlhfRule } from "../../openrlhfRule.ts";

export const queueSize = openrlhfRule({
  id: "openrlhf-queue-size",
  title: "Empty queue",
  why: "`train.async_queue_size` is the number of rollouts that may wait while the model trains. `PPOTrainerAsync` (openrlhf/trainer/ppo_trainer_async.py) refuses fewer than one, and without `train.async_enable` nothing reads it.",
  check(flags) {
    const [at, size] = [flags.written("train.async_queue_size"), flags.number("train.async_queue_size")];
    if (at === undefined || size === undefined) return [];
    const name = flags.name("train.async_queue_size");
    if (flags.value("train.async_enable") === false)
      return size === 1
        ? []
        : [
            {
              at,
              severity: "warning",
              message: `\`${name}\` is never read: \`${flags.name("train.async_enable")}\` is off.`,
            },
          ];
    if (size > 0) return [];
    const message = `\`${name}\` is ${size}: OpenRLHF needs room for at least one rollout.`;
    return [{ at, message, fixes: changes(at, [1]) }];
  },
});
