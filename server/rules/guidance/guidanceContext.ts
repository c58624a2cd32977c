import { givenBy, hasRatio, helps } from "../../core/config/guidanceFacts.ts";
import { eachRlStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

export const guidanceContext: Rule = {
  id: "guidance-context",
  title: "Stripped context with a ratio or source that does not fit",
  why: "With `context: strip` a rollout that was generated with help trains on the prompt without it. `ratio: same_context` is for rollouts that train in the context they were generated in: here it would divide probabilities given the bare prompt by probabilities given the helped prompt, as if the two were the same. `true_behaviour` is that ratio under its own name, with what it means for the gradient (Guide); `recomputed` takes both probabilities given the bare prompt; `shaped` needs none.\n\nHelp inside the response itself cannot be stripped, because the policy continued from it.",
  check: eachRlStage((view, model) => {
    const { guidance, objective } = view.config.body;
    if (!helps(guidance) || guidance.context !== "strip") return;
    const paths = [["guidance", "context"], ["guidance", "ratio"], ["guidance"]];
    const at = placeOf(view.body, "guidance", "context");
    if (givenBy(guidance).place === "response")
      reportAt(model, view, guidanceContext, paths, {
        severity: "warning",
        message: `\`guidance.source: ${guidance.source.declaration.name}\` puts its help into the response, not into the prompt, so there is nothing to strip: remove \`context\`.`,
        fileFixes: [model.edits.remove(pathIn(view, at, "guidance", "context"), "Remove `context`")],
      });
    else if (guidance.ratio.declaration.name === "same_context" && hasRatio(objective))
      reportAt(model, view, guidanceContext, paths, {
        message:
          "A stripped rollout does not train in the context it was generated in, so `guidance.ratio: same_context` does not fit: choose `true_behaviour`, `recomputed`, `shaped`, `multiple_importance` or `mixture`.",
        fileFixes: ["true_behaviour", "recomputed"].map((use) =>
          model.edits.set(pathIn(view, at, "guidance", "ratio"), use, `Set \`ratio: ${use}\``, false),
        ),
      });
  }),
};
