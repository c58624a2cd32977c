import { sibling, unfitFile } from "../nearFile.ts";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { noFile, shownPath } from "../../lib/texts/shownPath.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { datasetFiles } from "../../lib/datasets/files.ts";
import { taskFileKeys } from "../../config/check/method.ts";
import { replace } from "../../config/check/report.ts";
import type { Origin } from "../../config/text/node.ts";
import type { Fix } from "../../config/check/diagnostic.ts";
import type { ConfigModel } from "../../config/check/model.ts";
import { firstTime, reportAt, type Rule } from "../rule.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

/** `openai/gsm8k`, and no path with an ending. */
const isHubName = ({ file }: ConfigModel, dataset: string): boolean =>
  /^[\w-]+\/[\w-]+$/.test(relativePath(dirname(file), dataset));

/** A dataset's or a corpus's file exists. */
export const datasetFile: Rule = {
  id: "dataset-file",
  title: "Missing dataset",
  why: "A path is relative to the folder of the file that contains it, not to the folder in which `gradus` runs. It names a file, a folder or a pattern of files. `hf://datasets/org/name[@revision][/path]` is read from the Hugging Face cache; nothing is downloaded, so download it first: `hf download org/name --repo-type dataset`.",
  check(model) {
    const fresh = firstTime();
    for (const view of model.stages) {
      for (const [index, { source }] of view.config.body.tasks.entries()) {
        const key = taskFileKeys.find((one) => source.params[one] !== undefined);
        const dataset = key === undefined ? undefined : source.params[key];
        if (key === undefined || key === "harbor" || typeof dataset !== "string" || !fresh(source)) continue;
        const found = key === "dataset" ? lookUp(dataset) : { files: [dataset] };
        const unfit = found.files.find((file) => !existsSync(file) || unfitFile(file) !== undefined);
        const { problem } = found;
        if (problem === undefined && unfit === undefined) continue;
        reportAt(model, view, datasetFile, [["tasks", String(index), key]], (at) =>
          problem === undefined ? missing(model, unfit ?? dataset, at) : { message: problem },
        );
      }
    }
  },
};

/** What a dataset's files are, or why it has none. */
function lookUp(dataset: string): { readonly files: readonly string[]; readonly problem?: string } {
  try {
    return { files: datasetFiles(dataset) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { message, detail } = error;
    const sentence = `${message.replace(/^[a-z]/, (letter) => letter.toUpperCase())}.`;
    return { files: [], problem: `${sentence} ${detail.action ?? ""}`.trim() };
  }
}

function missing(
  model: ConfigModel,
  file: string,
  at: Origin,
): { readonly message: string; readonly fixes: readonly Fix[] } {
  const unfit = unfitFile(file);
  const shown = `\`${shownPath(dirname(model.file), file)}\``;
  const { hint, fixes } = sibling(file, at);
  if (unfit !== undefined)
    return { message: `${shown} cannot be read: ${unfit}. Name a JSONL or Parquet file.`, fixes };
  if (hint !== "" || !isHubName(model, file))
    return {
      message: `${noFile(dirname(model.file), file)}.${hint}`,
      fixes,
    };
  const hub = `hf://datasets/${relativePath(dirname(model.file), file)}`;
  return {
    message: `There is no file ${shown}. If this is a dataset of the Hugging Face Hub, write \`${hub}\`.`,
    fixes: [replace(at.range, hub, `Change to \`${hub}\``)],
  };
}
