import { unknownName } from "../../config/check/report.ts";
import { languageModels } from "../../core/config/runConfig.ts";
import { eachStage, reportAt, type Rule } from "../rule.ts";

/** Models whose logits are added exist. */
export const deltaModel: Rule = {
  id: "delta-model",
  title: "Logits of a missing model",
  why: "`rollout.delta_logits` adds the difference of two models' logits, after and before training, to the policy's. Both are language models of `models`, or the `reference`. With any other name the run stops when it first generates.",
  check: eachStage((view, model) => {
    const delta = view.config.body.rollout.delta_logits;
    if (delta === undefined) return;
    const known = [...new Set(["reference", ...languageModels(model.config)])].filter(
      (one) => one !== "policy",
    );
    for (const key of ["model", "base"] as const)
      if (!known.includes(delta[key]))
        reportAt(model, view, deltaModel, [["rollout", "delta_logits", key]], (at) => {
          const { hint, fixes } = unknownName(delta[key], known, at);
          return {
            message: `There is no model \`${delta[key]}\` whose logits could be added. ${hint}`,
            fixes,
          };
        });
  }),
};
