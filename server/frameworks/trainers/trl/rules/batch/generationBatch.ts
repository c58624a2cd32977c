import { changes } from "../../../../rules/multiples.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";
import { placed } from "../../../../rules/placed.ts";
import { removal } from "../../../../rules/removal.ts";
import { rewarded } from "../../../../releases/programs/trl.ts";
import { trlRule } from "../../trlRule.ts";

export const generationBatch = trlRule({
  id: "trl-generation-batch",
  trees: rewarded,
  title: "Conflicting generation sizes",
  why: "`generation_batch_size` counts the completions of one generation, `steps_per_generation` the slices in which they train; either follows from the other. `GRPOConfig.__post_init__` (trl/trainer/grpo_config.py) refuses both together.",
  check(model) {
    const size = model.written("generation_batch_size");
    const steps = model.written("steps_per_generation");
    const set = [size, steps].every((setting) => setting?.value !== undefined && setting.value !== null);
    return set ? both(model) : [];
  },
});

function both(model: RuleModel): RuleDiagnostic[] {
  const { at, related } = placed(model, "steps_per_generation", "generation_batch_size");
  const fixes = at === undefined ? [] : removal(model, at);
  const message =
    "`generation_batch_size` and `steps_per_generation` set the same size twice, and TRL refuses both together: remove one of them.";
  return [{ message, at, related, fixes }];
}

/** The factors of a slice of a generation: none may be zero. */
export const emptyBatch = trlRule({
  id: "trl-empty-batch",
  trees: rewarded,
  title: "Empty batch",
  why: "The completions of one generation are `per_device_train_batch_size` × processes × `steps_per_generation` (by default `gradient_accumulation_steps`). `GRPOConfig` accepts a zero among these; `torch.utils.data.DataLoader`, built in `GRPOTrainer.get_train_dataloader` (trl/trainer/grpo_trainer.py), refuses a batch of that size.",
  check: (model) =>
    [
      "per_device_train_batch_size",
      "steps_per_generation",
      "gradient_accumulation_steps",
      "generation_batch_size",
    ]
      .flatMap((key) => model.written(key) ?? [])
      .filter(({ value }) => typeof value === "number" && value <= 0)
      .map((at) => ({
        at,
        message: `\`${at.key}\` is ${at.text}, so a batch is empty and the data loader refuses it: use 1 or more.`,
        fixes: changes(at, [1]),
      })),
});
