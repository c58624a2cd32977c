import { missingData as missing } from "../../../../rules/missingData.ts";
import { verlRule } from "../../rule.ts";

export const missingData = verlRule({
  id: "verl-missing-data",
  title: "Missing data file",
  why: "`RLHFDataset._download` (verl/utils/dataset/rl_dataset.py) copies each of `data.train_files` and `data.val_files` to the machine and reads it there: a missing file stops the run after the workers start. Gradus looks for paths with a folder, next to the configuration and in the folders above it up to the repository's. It does not check remote paths, paths with variables and folders that this machine does not have. A relative path that no name near it resembles is a warning, because the machine of the run may have it; a file that the script itself writes is none.\n\nFix the path, or make the data first.",
  check: (model) => missing(model, ["data.train_files", "data.val_files"]),
});
