import { join } from "../../config/text/node.ts";
import { alwaysModels } from "../../core/references.ts";
import { unknownName } from "../../config/check/report.ts";
import { languageModels } from "../../core/config/runConfig.ts";
import { at as nodeAt, mine, underneath, type Rule } from "../rule.ts";

export const klModel: Rule = {
  id: "kl-model",
  title: "KL term against a missing model",
  why: "A `kl` entry measures the policy's divergence from another model: `reference` (the policy as it entered the first rl stage), `behaviour`, `proximal`, or a language model of `models`.",
  check({ config, stages, file, root, report }) {
    const known = [...new Set([...alwaysModels, ...languageModels(config)])];
    for (const view of stages) {
      const list = nodeAt(view.body, "kl");
      for (const [index, { model }] of view.config.body.kl.entries()) {
        if (known.includes(model)) continue;
        const item = list?.kind === "list" ? list.items[index] : undefined;
        const at = mine(file, nodeAt(item, "model")?.origin, item?.origin) ?? root.origin;
        const { hint, fixes } = unknownName(model, known, at);
        report({
          rule: klModel.id,
          message: `The KL term measures against \`${model}\`, but there is no such model. ${hint}`,
          key: underneath(view, at, join(`kl.${index}`, "model")),
          at,
          fixes,
        });
      }
    }
  },
};
