import { missingData as missing } from "../../missingData.ts";
import { openrlhfRule } from "../openrlhfRule.ts";

export const missingData = openrlhfRule({
  id: "openrlhf-missing-data",
  severity: "warning",
  title: "Data that is not there",
  why: "`blending_datasets` (openrlhf/datasets/utils.py) reads a path that ends in `.jsonl`, `.json`, `.csv`, `.parquet` or `.arrow` as a file and takes any other name for a folder or one of the Hub: a file that is missing stops the run. Looked for are paths with a folder, beside the script and in the folders above it up to the repository's. Remote paths, paths with variables and folders that this machine has not are left to the machine of the run.\n\nMend the path, or make the data first.",
  check: ({ model }) =>
    missing(model, ["data.prompt_dataset", "prompt_data", "eval.dataset", "eval_dataset"]),
});
