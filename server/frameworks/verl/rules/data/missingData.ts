import { missingData as missing } from "../../../missingData.ts";
import { verlRule } from "../../rule.ts";

export const missingData = verlRule({
  id: "verl-missing-data",
  title: "Data that is not there",
  severity: "warning",
  why: "`RLHFDataset._download` (verl/utils/dataset/rl_dataset.py) copies each of `data.train_files` and `data.val_files` to the machine and reads it there: a file that is missing stops the run once the workers have started. Looked for are paths with a folder, beside the configuration and in the folders above it up to the repository's. Remote paths, paths with variables and folders that this machine has not are left to the machine of the run.\n\nMend the path, or make the data first.",
  check: (model) => missing(model, ["data.train_files", "data.val_files"]),
});
