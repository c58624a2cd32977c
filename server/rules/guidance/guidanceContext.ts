import { givenBy, hasRatio, helps } from "../../core/config/guidanceFacts.ts";
import { pathIn, placeOf, tell, type Rule } from "../rule.ts";

export const guidanceContext: Rule = {
  id: "guidance-context",
  title: "Stripped context that does not fit",
  why: "With `context: strip` a rollout that was written behind help trains behind the bare prompt. `ratio: same_context` speaks of rollouts that train where they were written: it would count the bare prompt's probabilities against the helped one's while calling them the same. `true_behaviour` is that ratio under its own name, with what it means for the gradient (Guide); `recomputed` takes both probabilities behind the bare prompt; `shaped` needs none.\n\nHelp that stands in the response itself cannot be stripped: the policy went on from it.",
  check(model) {
    for (const view of model.stages) {
      const { guidance, objective } = view.config.body;
      if (view.config.kind !== "rl" || !helps(guidance) || guidance.context !== "strip") continue;
      const paths = [["guidance", "context"], ["guidance", "ratio"], ["guidance"]];
      const at = placeOf(view.body, "guidance", "context");
      if (givenBy(guidance).place === "response")
        tell(model, view, guidanceContext, paths, {
          severity: "warning",
          message: `\`guidance.source: ${guidance.source.declaration.name}\` stands in the response, not in the prompt: there is nothing to strip.`,
          mends: [model.edits.remove(pathIn(view, at, "guidance", "context"), "Remove `context`")],
        });
      else if (guidance.ratio.declaration.name === "same_context" && hasRatio(objective))
        tell(model, view, guidanceContext, paths, {
          message:
            "A stripped rollout does not train in the context that it was written in: `guidance.ratio: same_context` does not fit. `true_behaviour`, `recomputed`, `shaped`, `multiple_importance` and `mixture` do.",
          mends: ["true_behaviour", "recomputed"].map((use) =>
            model.edits.set(pathIn(view, at, "guidance", "ratio"), use, `Set \`ratio: ${use}\``, false),
          ),
        });
    }
  },
};
