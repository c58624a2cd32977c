import { missingFiles } from "../../../rules/missingData.ts";
import { readTrlScript } from "../../../readers/trl/trlScript.ts";
import { trainerOf } from "../python.ts";
import { everyTrainer } from "../../../releases/programs/trl.ts";
import { trlRule } from "../trlRule.ts";

export const missingData = trlRule({
  id: "trl-missing-data",
  trees: everyTrainer,
  title: "Missing data file",
  why: '`load_dataset("parquet", data_files=…)` and its like (datasets/load.py) read files of this machine: a missing one stops the script before it trains. Gradus looks for paths with a folder that the script writes for its `train_dataset`, next to the script and in the folders above it up to the repository\'s. It does not check remote paths, computed paths and folders that this machine does not have.\n\nFix the path, or make the data first.',
  check(model) {
    const { form, file, text, tree } = model.document;
    const trainer = form === "python" ? trainerOf(model) : undefined;
    if (trainer === undefined || !trainer.has("train_dataset")) return [];
    const data = readTrlScript(file, text, tree).settings.get("train_dataset");
    if (data === undefined) return [];
    return missingFiles(model, trainer.setting("train_dataset"), data.value).map((found) => ({
      ...found,
      at: { ...trainer.setting("train_dataset"), range: data.range },
      fixes: [],
    }));
  },
});
