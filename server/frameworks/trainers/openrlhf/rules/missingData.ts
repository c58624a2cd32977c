import { missingData as missing } from "../../../rules/missingData.ts";
import { openrlhfRule } from "../openrlhfRule.ts";

export const missingData = openrlhfRule({
  id: "openrlhf-missing-data",
  title: "Missing data file",
  why: "`blending_datasets` (openrlhf/datasets/utils.py) reads a path that ends in `.jsonl`, `.json`, `.csv`, `.parquet` or `.arrow` as a file, and any other name as a folder or a dataset on the Hub: a missing file stops the run. Gradus looks for paths with a folder, next to the script and in the folders above it up to the repository's. It does not check remote paths, paths with variables and folders that this machine does not have.\n\nFix the path, or make the data first.",
  check: ({ model }) =>
    missing(model, ["data.prompt_dataset", "prompt_data", "eval.dataset", "eval_dataset"]),
});
