import type { FrameworkRule } from "../../rule.ts";
import { placed } from "../../placed.ts";
import { everyTrainer } from "../trainers.ts";

export const prefetch: FrameworkRule = {
  id: "trl-prefetch",
  framework: "trl",
  trees: everyTrainer,
  severity: "error",
  title: "Prefetching without workers",
  why: "`TrainingArguments._validate_args` (transformers/training_args.py) refuses `dataloader_prefetch_factor` without `dataloader_num_workers`, whose default is 0: only a worker process prefetches.",
  check(model) {
    const factor = model.value("dataloader_prefetch_factor");
    const workers = model.number("dataloader_num_workers");
    if (factor === undefined || factor === null || workers !== 0) return [];
    const message =
      "`dataloader_prefetch_factor` needs workers, and `dataloader_num_workers` is 0: Transformers refuses it.";
    return [{ message, ...placed(model, "dataloader_prefetch_factor", "dataloader_num_workers") }];
  },
};
