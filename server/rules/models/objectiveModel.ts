import { objectiveNeeds } from "../../algorithm/loss/modelsRead.ts";
import { unknownName } from "../../config/check/report.ts";
import { reportAt, type Rule } from "../rule.ts";

/** Beside the models of the config: the policy when it entered, as an update found it, and before that. */
const always = ["reference", "proximal", "previous"];

/** Models that the objective compares the policy with exist. */
export const objectiveModel: Rule = {
  id: "objective-model",
  title: "Objective that reads a missing model",
  why: "Some objectives compare the policy with another model, an anchor or a reference. It must be a model that every run has, or one of `models`.",
  check(model) {
    const known = [...always, ...model.config.models.map(({ name }) => name)];
    for (const view of model.stages)
      for (const name of objectiveNeeds(view.config.body).models)
        if (!known.includes(name))
          reportAt(model, view, objectiveModel, [["objective", "anchor"], ["objective"]], (at) => {
            const { hint, fixes } = unknownName(name, ["behaviour", ...known], at);
            const message = `The objective compares the policy with \`${name}\`, but there is no such model. ${hint}`;
            return { key: "objective.anchor", message, fixes };
          });
  },
};
