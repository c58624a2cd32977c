import { guidanceModels } from "../../core/config/guidanceModels.ts";
import { unknownName } from "../../config/check/report.ts";
import { languageModels } from "../../core/config/runConfig.ts";
import { at as nodeAt, mine, underneath, type Rule } from "../rule.ts";

export const guidanceModel: Rule = {
  id: "guidance-model",
  title: "Help from a model that is not there",
  why: "A guide, a teacher, or whoever writes hints or feedback is a language model of `models`, the `reference`, or the `policy` itself. Another name stops the run when help is first asked for.",
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
          message: `There is no model \`${model}\` to help the policy. ${hint}`,
          key: underneath(view, at, path.join(".")),
          at,
          fixes,
        });
      }
    }
  },
};
