import { listed } from "../../../../../lib/suggest.ts";
import { found, verlRule } from "../../rule.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";

const endings = [".parquet", ".json", ".jsonl"];

function ofKey(model: RuleModel, key: string): RuleDiagnostic[] {
  const value = model.value(key);
  const files = Array.isArray(value) ? value : [value];
  const readable = model.since("0.6.0") ? endings : [".parquet"];
  const strange = files.filter(
    // A folder, a variable's rest or a glob may still be one of them.
    (file) =>
      typeof file === "string" &&
      /\.[A-Za-z]\w*$/.test(file) &&
      !readable.some((ending) => file.endsWith(ending)),
  );
  if (strange.length === 0) return [];
  const message = `\`${String(strange[0])}\` is not a file that verl reads: use ${listed(readable)}.`;
  return found(model, [key], message);
}

export const dataFiles = verlRule({
  id: "verl-data-files",
  title: "Unsupported data format",
  why: "`RLHFDataset._read_files_and_tokenize` (verl/utils/dataset/rl_dataset.py) recognises Parquet and JSON by the file's ending and refuses others. Your own dataset class (`data.custom_cls`) may read any format.",
  check: (model) =>
    model.text("data.custom_cls.path") !== undefined
      ? []
      : ["data.train_files", "data.val_files"].flatMap((key) =>
          model.written(key) === undefined ? [] : ofKey(model, key),
        ),
});
