import { objectiveNeeds } from "../../algorithm/loss/modelsRead.ts";
import { unknownName } from "../../config/check/report.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { at as nodeAt, mine, underneath, type Rule } from "../rule.ts";

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
        if (!known.includes(name)) unknownModel(model, view, name, known);
  },
};

function unknownModel(
  { file, root, report }: ConfigModel,
  view: StageView,
  name: string,
  known: readonly string[],
): void {
  const written = nodeAt(view.body, "objective", "anchor")?.origin;
  const at = mine(file, written, nodeAt(view.body, "objective")?.origin) ?? root.origin;
  const { hint, fixes } = unknownName(name, ["behaviour", ...known], at);
  report({
    rule: objectiveModel.id,
    message: `The objective compares the policy with \`${name}\`, but there is no such model. ${hint}`,
    key: underneath(view, at, "objective.anchor"),
    at,
    fixes,
  });
}
