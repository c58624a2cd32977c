import { nameOf } from "../../config/check/method.ts";
import { at as nodeAt, eachRlStage, keyOf, pathIn, type Rule, underneath } from "../rule.ts";

/** Samplers that draw tasks by weight; every other one draws arms. */
const byWeight = new Set(["uniform", "self_repellent"]);

export const taskWeight: Rule = {
  id: "task-weight",
  title: "Task weights that the sampler ignores",
  why: "The sampler `uniform` draws tasks by their weights. Every other sampler draws arms by their estimates and does not read the weights.",
  check: eachRlStage((view, { report, edits }) => {
    const { sampler } = view.config.body.curriculum;
    const tasks = nodeAt(view.body, "tasks");
    if (byWeight.has(sampler.declaration.name) || tasks?.kind !== "list") return;
    for (const [index, item] of tasks.items.entries()) {
      const at = keyOf(item, "weight");
      if (at === undefined || at.layer === "default") continue;
      const message = `The sampler \`${sampler.declaration.name}\` draws arms by their estimates and ignores task weights; \`uniform\` reads them.`;
      report({
        rule: taskWeight.id,
        severity: "info",
        message,
        key: underneath(view, at, `tasks.${index}.weight`),
        at,
        tags: ["unnecessary"],
        fileFixes: [
          edits.remove(
            pathIn(view, at, "tasks", nameOf(item, "task") ?? index, "weight"),
            "Remove `weight`",
            false,
          ),
        ],
      });
    }
  }),
};
