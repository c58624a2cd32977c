import { objectiveNeeds } from "../../algorithm/modelsRead.ts";
import { unknownName } from "../report.ts";
import { at as nodeAt, mine, underneath, type ConfigModel, type Rule, type StageView } from "./rule.ts";

/** Beside the models of the config: the policy when it entered, and as an update found it. */
const always = ["reference", "proximal"];

/** Models that the objective compares the policy with exist. */
export const objectiveModel: Rule = {
  id: "objective-model",
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
    message: `There is no model \`${name}\` for the objective to compare the policy with. ${hint}`,
    key: underneath(view, at, "objective.anchor"),
    at,
    fixes,
  });
}

/** Heads that the objective trains are heads of the policy. */
export const objectiveHead: Rule = {
  id: "objective-head",
  check({ config, stages, file, root, report }) {
    const heads = (config.model.heads ?? []).map(({ name }) => name);
    for (const view of stages) {
      if (view.config.kind !== "rl") continue;
      const missing = objectiveNeeds(view.config.body)
        .channels.filter((channel) => channel.startsWith("head:"))
        .map((channel) => channel.slice("head:".length))
        .filter((name) => !heads.includes(name));
      if (missing.length === 0) continue;
      const places = ["value", "head", "q", "v"].map((key) => nodeAt(view.body, "objective", key)?.origin);
      const at = mine(file, ...places, nodeAt(view.body, "objective")?.origin) ?? root.origin;
      report({
        rule: objectiveHead.id,
        message: `The objective trains ${missing.length === 1 ? "the head" : "the heads"} ${missing.join(", ")}, which the policy does not have: write \`model.value_heads: [${[...heads, ...missing].join(", ")}]\`.`,
        key: underneath(view, at, "objective"),
        at,
      });
    }
  },
};
