import { isOwn, placeOf, reportAt, type Rule } from "../rule.ts";

/** Whether anything has trained the policy before its first rl stage. */
const entersTrained = ({ config, stages }: Parameters<Rule["check"]>[0]): boolean =>
  config.model.base !== "tiny" ||
  stages[0]?.config.kind === "sft" ||
  stages.slice(
    0,
    stages.findIndex((view) => view.config.kind === "rl"),
  ).length > 0;

/** A reference holds the policy to something worth keeping. */
export const untrainedReference: Rule = {
  id: "untrained-reference",
  title: "Reference with random weights",
  why: "The reference is the policy as it enters the first rl stage. A `tiny` model begins with random weights. Without an sft stage before, the divergence pulls the policy towards noise and away from everything it learns.\n\nTrain the model with an sft stage first, start from a trained model or a checkpoint, or leave the KL term out.",
  check(model) {
    if (entersTrained(model)) return;
    for (const view of model.stages) {
      if (view.config.kind !== "rl") continue;
      for (const [index, { model: other, coefficient }] of view.config.body.kl.entries()) {
        const path = ["kl", String(index)];
        if (other !== "reference" || coefficient === 0 || !isOwn(placeOf(view.body, ...path))) continue;
        // A stage that refreshes the reference has a trained one.
        if (view.config.on_enter.refreshReference && view !== model.stages[0]) continue;
        reportAt(model, view, untrainedReference, [[...path, "model"], path], {
          severity: "info",
          message:
            "The reference is a `tiny` model with random weights that no earlier stage trains, so the KL term pulls towards noise: begin with an sft stage, or with a trained `model.base`.",
        });
      }
    }
  },
};
