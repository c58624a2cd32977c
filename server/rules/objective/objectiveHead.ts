import { objectiveNeeds } from "../../algorithm/loss/modelsRead.ts";
import { lackOfHeads } from "../advantage/heads.ts";
import { eachRlStage, reportAt, type Rule } from "../rule.ts";

/** Heads that the objective trains are heads of the policy. */
export const objectiveHead: Rule = {
  id: "objective-head",
  title: "Objective that trains a missing value head",
  why: "An objective of values trains a linear map from the model's last hidden state to a number per token, or, for a Q of tokens (`words: true`), to a number per vocabulary entry. The policy has only the heads that `model.value_heads` names.",
  check: eachRlStage((view, model) => {
    const lack = lackOfHeads(objectiveNeeds(view.config.body).channels, model.config.model.heads ?? []);
    if (lack === undefined) return;
    const { missing, narrow, value } = lack;
    const paths = ["value", "head", "q", "v"].map((key) => ["objective", key]);
    reportAt(model, view, objectiveHead, [...paths, ["objective"]], {
      key: "objective",
      message:
        missing.length > 0
          ? `The objective trains ${missing.length === 1 ? "the head" : "the heads"} ${missing.join(", ")}, which the policy does not have: write \`model.value_heads: ${value}\`.`
          : `The objective reads a value per vocabulary entry, which ${narrow.join(", ")} ${narrow.length === 1 ? "does" : "do"} not give: write \`model.value_heads: ${value}\`.`,
      fileFixes: [
        model.edits.set(["model", "value_heads"], value, `Set \`model.value_heads\` to \`${value}\``),
      ],
    });
  }),
};
