import { join } from "../../config/text/node.ts";
import { alwaysModels } from "../../core/references.ts";
import { unknownName } from "../../config/check/report.ts";
import { languageModels } from "../../core/config/runConfig.ts";
import { reportAt, type Rule } from "../rule.ts";

export const klModel: Rule = {
  id: "kl-model",
  title: "KL term against a missing model",
  why: "A `kl` entry measures the policy's divergence from another model: `reference` (the policy as it entered the first rl stage), `behaviour`, `proximal`, or a language model of `models`.",
  check(model) {
    const known = [...new Set([...alwaysModels, ...languageModels(model.config)])];
    for (const view of model.stages)
      for (const [index, { model: name }] of view.config.body.kl.entries()) {
        if (known.includes(name)) continue;
        const path = ["kl", String(index)];
        reportAt(model, view, klModel, [[...path, "model"], path], (at) => {
          const { hint, fixes } = unknownName(name, known, at);
          const message = `The KL term measures against \`${name}\`, but there is no such model. ${hint}`;
          return { key: join(`kl.${index}`, "model"), message, fixes };
        });
      }
  },
};
