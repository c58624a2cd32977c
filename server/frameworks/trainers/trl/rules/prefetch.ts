import { diagnosticAt } from "../../../rules/placed.ts";
import { everyTrainer } from "../../../releases/programs/trl.ts";
import { trlRule } from "../trlRule.ts";

export const prefetch = trlRule({
  id: "trl-prefetch",
  trees: everyTrainer,
  title: "Prefetching without workers",
  why: "`TrainingArguments._validate_args` (transformers/training_args.py) refuses `dataloader_prefetch_factor` without `dataloader_num_workers`, whose default is 0: only a worker process prefetches.",
  check(model) {
    const factor = model.value("dataloader_prefetch_factor");
    const workers = model.number("dataloader_num_workers");
    if (factor === undefined || factor === null || workers !== 0) return [];
    const message =
      "`dataloader_prefetch_factor` needs workers, and `dataloader_num_workers` is 0: Transformers refuses it.";
    return diagnosticAt(model, ["dataloader_prefetch_factor", "dataloader_num_workers"], message);
  },
});
