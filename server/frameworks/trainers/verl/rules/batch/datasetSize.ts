import { changed } from "../../fixes.ts";
import { found, size, verlRule } from "../../rule.ts";
import { isV1, trainBatch } from "../../shape.ts";
import { rowsOf } from "../../dataset.ts";

const [limit, files] = ["data.train_max_samples", "data.train_files"];

export const datasetSize = verlRule({
  id: "verl-dataset-size",
  title: "Fewer prompts than a batch",
  why: "The loader drops a last batch that is not full, so with fewer rows than `train_batch_size` there is no batch. `steps_per_epoch` of `_init_dataloader` (verl/trainer/ppo/v1/trainer_base.py) is then 0, and `fit` divides by it; the older trainer asserts that the loader is not empty. By then the models are loaded. Gradus knows the number of rows from `train_max_samples`, or from a JSONL or Parquet file on this machine.",
  check(model) {
    const batch = size(model, trainBatch);
    if (batch === undefined) return [];
    const most = size(model, limit);
    const rows = rowsOf(model);
    const known = Math.min(most ?? Number.POSITIVE_INFINITY, rows?.count ?? Number.POSITIVE_INFINITY);
    if (known >= batch) return [];
    const byLimit = known === most;
    const what = byLimit ? `\`${limit}\` leaves ${known} prompts` : `\`${files}\` has ${known} prompts`;
    const fails = isV1(model) ? "verl divides by the 0 steps of an epoch" : "the training loader is empty";
    const message = `${what}, but a batch takes ${batch} (\`${trainBatch}\`): ${fails}, and the run stops.`;
    return found(model, [trainBatch, ...(byLimit ? [limit] : [files])], message, {
      fixes: [changed(model, trainBatch, known)],
    });
  },
});
