import { isHubName } from "../../lib/datasets/name.ts";
import { isReadable, sibling } from "../nearFile.ts";
import { dirname } from "node:path";
import { shownPath } from "../../lib/texts/shownPath.ts";
import { replace } from "../../config/check/report.ts";
import { at as nodeAt, mine, type Rule } from "../rule.ts";

/** A model's folder or file exists. */
export const modelFile: Rule = {
  id: "model-file",
  title: "Missing model",
  why: "`model.base` is `tiny`, a Hugging Face folder, a `.gguf` file or a checkpoint of an earlier run. Nothing is downloaded, so the files must be on this machine.",
  check({ config, file, root, report }) {
    const { base } = config.model;
    if (base === "tiny" || base.startsWith("${env:") || isReadable(base)) return;
    // A path is absolute: another trainer downloads what has a name.
    if (isHubName(base)) return;
    const at = mine(file, nodeAt(root, "model", "base")?.origin) ?? root.origin;
    const { hint, fixes } = sibling(base, at);
    report({
      rule: modelFile.id,
      message: `There is no model at \`${shownPath(dirname(file), base)}\`: name \`tiny\`, a folder, a .gguf file or a checkpoint that exists.${hint}`,
      key: "model.base",
      at,
      fixes: [
        ...fixes,
        replace(at.range, "tiny", "Change to `tiny`: a small model with random weights", false),
      ],
    });
  },
};
