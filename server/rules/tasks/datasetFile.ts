import { sibling, unfitFile } from "../nearFile.ts";
import { existsSync } from "node:fs";
import { dirname, relative } from "node:path";
import { taskFileKeys } from "../../config/check/method.ts";
import type { StageView } from "../../config/check/model.ts";
import { at as nodeAt, firstTime, mine, underneath, type Rule } from "../rule.ts";

/** A dataset's or a corpus's file exists. */
export const datasetFile: Rule = {
  id: "dataset-file",
  title: "Missing dataset",
  why: "A path is relative to the folder of the file that contains it, not to the folder in which `gradus` runs.",
  check({ stages, file, root, report }) {
    const fresh = firstTime();
    for (const view of stages) {
      for (const [index, { source }] of view.config.body.tasks.entries()) {
        const key = taskFileKeys.find((one) => source.params[one] !== undefined);
        const dataset = key === undefined ? undefined : source.params[key];
        if (key === undefined || typeof dataset !== "string" || !fresh(source)) continue;
        const unfit = unfitFile(dataset);
        if (existsSync(dataset) && unfit === undefined) continue;
        const list = nodeAt(view.body, "tasks");
        const item = list?.kind === "list" ? list.items[index] : undefined;
        const at = mine(file, nodeAt(item, key)?.origin) ?? root.origin;
        const { hint, fixes } = sibling(dataset, at);
        report({
          rule: datasetFile.id,
          message:
            unfit !== undefined
              ? `\`${relative(dirname(file), dataset)}\` cannot be read: ${unfit}. Name a JSONL or Parquet file.`
              : `There is no file \`${relative(dirname(file), dataset)}\`: a path is relative to the file that contains it.${hint}`,
          key: pathOf(view, at, index, key),
          at,
          fixes,
        });
      }
    }
  },
};

const pathOf = (view: StageView, at: Parameters<typeof underneath>[1], index: number, key: string): string =>
  underneath(view, at, `tasks.${index}.${key}`);
