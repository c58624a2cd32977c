import { sibling, unfitFile } from "../nearFile.ts";
import { existsSync } from "node:fs";
import { dirname, relative } from "node:path";
import { taskFileKeys } from "../../config/check/method.ts";
import type { ConfigModel } from "../../config/check/model.ts";
import { firstTime, reportAt, type Rule } from "../rule.ts";

/** `openai/gsm8k`, and no path with an ending. */
const isHubName = ({ file }: ConfigModel, dataset: string): boolean =>
  /^[\w-]+\/[\w-]+$/.test(relative(dirname(file), dataset));

/** A dataset's or a corpus's file exists. */
export const datasetFile: Rule = {
  id: "dataset-file",
  title: "Missing dataset",
  why: "A path is relative to the folder of the file that contains it, not to the folder in which `gradus` runs.",
  check(model) {
    const fresh = firstTime();
    for (const view of model.stages) {
      for (const [index, { source }] of view.config.body.tasks.entries()) {
        const key = taskFileKeys.find((one) => source.params[one] !== undefined);
        const dataset = key === undefined ? undefined : source.params[key];
        if (key === undefined || typeof dataset !== "string" || !fresh(source)) continue;
        const unfit = unfitFile(dataset);
        if (existsSync(dataset) && unfit === undefined) continue;
        const shown = `\`${relative(dirname(model.file), dataset)}\``;
        reportAt(model, view, datasetFile, [["tasks", String(index), key]], (at) => {
          const { hint, fixes } = sibling(dataset, at);
          const message =
            unfit !== undefined
              ? `${shown} cannot be read: ${unfit}. Name a JSONL or Parquet file.`
              : hint === "" && isHubName(model, dataset)
                ? `There is no file ${shown}. A dataset of the Hub is not downloaded: save it with \`load_dataset(…).to_parquet("train.parquet")\` and name that file.`
                : `There is no file ${shown}: a path is relative to the file that contains it.${hint}`;
          const severity = model.absent?.includes("data") === true ? "warning" : "error";
          return { message, severity, fixes };
        });
      }
    }
  },
};
