import { unknownName } from "../../config/check/report.ts";
import { scheduledRange } from "../ranges.ts";
import { eachStage, reportAt, type Rule } from "../rule.ts";

/** Terms of `reward.gold` are of the same stage, and nothing trains by them. */
export const goldTerm: Rule = {
  id: "gold-term",
  title: "Gold reward term that is missing or trains",
  why: "`reward.gold` names terms that you trust more than what trains: a better judge, a stricter test. They score held-out answers alone, so they can show that the trained reward rises while the answers get worse (Gao et al., Scaling Laws for Reward Model Overoptimization). A term that trains, or that decides what a success is, can show no such thing: the policy learns to please it.\n\nGive it `weight: 0`, and leave it out of `reward.success.terms`. To train by the same judge as well, write it a second time under another name.",
  check: eachStage((view, model) => {
    const { terms, success, gold } = view.config.body.reward;
    gold.forEach((name, index) => {
      const listed = [
        ["reward", "gold", String(index)],
        ["reward", "gold"],
      ];
      const term = terms.find((one) => one.name === name);
      if (term === undefined)
        reportAt(model, view, goldTerm, listed, (at) => {
          const known = terms.map((one) => one.name);
          const { hint, fixes } = unknownName(name, known, at);
          return { message: `There is no reward term \`${name}\` for \`reward.gold\`. ${hint}`, fixes };
        });
      else if (success.terms?.includes(name) === true)
        reportAt(model, view, goldTerm, [["reward", "success", "terms"], ...listed], {
          message: `\`${name}\` is in \`reward.gold\`, so it scores held-out answers alone and cannot decide what a success is. Remove it from one of the two lists.`,
        });
      else if (scheduledRange(term.weight).some((weight) => weight !== 0)) {
        const weight = ["reward", "terms", name, "weight"];
        reportAt(model, view, goldTerm, [weight, ["reward", "terms", name], ...listed], {
          message: `\`${name}\` is in \`reward.gold\`, so nothing may train by it. Give it \`weight: 0\`.`,
          fileFixes: [model.edits.set(weight, "0", `Set the weight of \`${name}\` to 0`, true)],
        });
      }
    });
  }),
};
