import { unknownName } from "../../config/check/report.ts";
import { at as nodeAt, mine, underneath, type Rule } from "../rule.ts";

/** `reward.success.terms` names terms of the same stage. */
export const successTerm: Rule = {
  id: "success-term",
  title: "Success by a missing reward term",
  why: "`reward.success.terms` says which terms decide whether a rollout succeeded: pass@k, `success_band` and the counts of correct and wrong groups depend on it.",
  check({ stages, file, root, report }) {
    for (const view of stages) {
      const { terms, success } = view.config.body.reward;
      const known = terms.map(({ name }) => name);
      const list = nodeAt(view.body, "reward", "success", "terms");
      success.terms?.forEach((name, index) => {
        if (known.includes(name)) return;
        const at =
          mine(file, list?.kind === "list" ? list.items[index]?.origin : undefined, list?.origin) ??
          root.origin;
        const { hint, fixes } = unknownName(name, known, at);
        report({
          rule: successTerm.id,
          message: `There is no reward term \`${name}\` for \`reward.success.terms\`. ${hint}`,
          key: underneath(view, at, `reward.success.terms.${index}`),
          at,
          fixes,
        });
      });
    }
  },
};
