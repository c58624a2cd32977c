import { unknownName } from "../../config/check/report.ts";
import { eachStage, reportAt, type Rule } from "../rule.ts";

/** `reward.success.terms` names terms of the same stage. */
export const successTerm: Rule = {
  id: "success-term",
  title: "Success by a missing reward term",
  why: "`reward.success.terms` says which terms decide whether a rollout succeeded: pass@k, `success_band` and the counts of correct and wrong groups depend on it.",
  check: eachStage((view, model) => {
    const { terms, success } = view.config.body.reward;
    const known = terms.map(({ name }) => name);
    success.terms?.forEach((name, index) => {
      if (known.includes(name)) return;
      const path = ["reward", "success", "terms"];
      reportAt(model, view, successTerm, [[...path, String(index)], path], (at) => {
        const { hint, fixes } = unknownName(name, known, at);
        const message = `There is no reward term \`${name}\` for \`reward.success.terms\`. ${hint}`;
        return { key: `reward.success.terms.${index}`, message, fixes };
      });
    });
  }),
};
