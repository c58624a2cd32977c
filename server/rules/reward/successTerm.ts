import { unknownName } from "../../config/check/report.ts";
import { at as nodeAt, mine, underneath, type Rule } from "../rule.ts";

/** `reward.success.terms` names terms of the same stage. */
export const successTerm: Rule = {
  id: "success-term",
  title: "Success by a term that is not there",
  why: "`reward.success.terms` says which terms decide whether a rollout succeeded: pass@k, `success_band` and the counts of right and wrong groups go by it.",
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
          message: `\`reward.success.terms\` names no reward term: \`${name}\`. ${hint}`,
          key: underneath(view, at, `reward.success.terms.${index}`),
          at,
          fixes,
        });
      });
    }
  },
};
