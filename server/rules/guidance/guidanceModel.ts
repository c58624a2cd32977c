import { guidanceModels } from "../../core/config/guidanceModels.ts";
import { unknownName } from "../../config/check/report.ts";
import { languageModels } from "../../core/config/runConfig.ts";
import { eachRlStage, reportAt, type Rule } from "../rule.ts";

export const guidanceModel: Rule = {
  id: "guidance-model",
  title: "Help from a missing model",
  why: "The model that guides, teaches, or writes hints or feedback is a language model of `models`, the `reference`, or the `policy` itself. With any other name the run stops when it first asks for help.",
  check: eachRlStage((view, model) => {
    const known = [...new Set(["policy", "reference", ...languageModels(model.config)])];
    for (const { model: name, path } of guidanceModels(view.config.body))
      if (!known.includes(name))
        reportAt(model, view, guidanceModel, [path], (at) => {
          const { hint, fixes } = unknownName(name, known, at);
          return { message: `\`${name}\` cannot help the policy: there is no such model. ${hint}`, fixes };
        });
  }),
};
