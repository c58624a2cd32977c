import { guidanceModels } from "../../core/config/guidanceModels.ts";
import { unknownName } from "../../config/check/report.ts";
import { languageModels } from "../../core/config/runConfig.ts";
import { at as nodeAt, mine, underneath, type Rule } from "../rule.ts";

export const guidanceModel: Rule = {
  id: "guidance-model",
  title: "Help from a missing model",
  why: "The model that guides, teaches, or writes hints or feedback is a language model of `models`, the `reference`, or the `policy` itself. With any other name the run stops when it first asks for help.",
  check({ config, stages, file, root, report }) {
    const known = [...new Set(["policy", "reference", ...languageModels(config)])];
    for (const view of stages) {
      if (view.config.kind !== "rl") continue;
      for (const { model, path } of guidanceModels(view.config.body)) {
        if (known.includes(model)) continue;
        const at = mine(file, nodeAt(view.body, ...path)?.origin) ?? root.origin;
        const { hint, fixes } = unknownName(model, known, at);
        report({
          rule: guidanceModel.id,
          message: `\`${model}\` cannot help the policy: there is no such model. ${hint}`,
          key: underneath(view, at, path.join(".")),
          at,
          fixes,
        });
      }
    }
  },
};
