import { objectiveNeeds } from "../../algorithm/loss/modelsRead.ts";
import { lackOfHeads } from "../advantage/heads.ts";
import { at as nodeAt, mine, underneath, type Rule } from "../rule.ts";

/** Heads that the objective trains are heads of the policy. */
export const objectiveHead: Rule = {
  id: "objective-head",
  title: "Objective that trains a missing value head",
  why: "An objective of values trains a linear map from the model's last hidden state to a number per token, or, for a Q of tokens (`words: true`), to a number per vocabulary entry. The policy has only the heads that `model.value_heads` names.",
  check({ config, stages, file, root, report, edits }) {
    const heads = config.model.heads ?? [];
    for (const view of stages) {
      if (view.config.kind !== "rl") continue;
      const lack = lackOfHeads(objectiveNeeds(view.config.body).channels, heads);
      if (lack === undefined) continue;
      const { missing, narrow, value } = lack;
      const places = ["value", "head", "q", "v"].map((key) => nodeAt(view.body, "objective", key)?.origin);
      const at = mine(file, ...places, nodeAt(view.body, "objective")?.origin) ?? root.origin;
      report({
        rule: objectiveHead.id,
        message:
          missing.length > 0
            ? `The objective trains ${missing.length === 1 ? "the head" : "the heads"} ${missing.join(", ")}, which the policy does not have: write \`model.value_heads: ${value}\`.`
            : `The objective reads a value per vocabulary entry, which ${narrow.join(", ")} ${narrow.length === 1 ? "does" : "do"} not give: write \`model.value_heads: ${value}\`.`,
        key: underneath(view, at, "objective"),
        at,
        fileFixes: [edits.set(["model", "value_heads"], value, `Set \`model.value_heads\` to \`${value}\``)],
      });
    }
  },
};
