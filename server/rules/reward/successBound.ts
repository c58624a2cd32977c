import { decidingOrder } from "../../core/config/termFacts.ts";
import { rewardRange, scheduledRange, termRange } from "../ranges.ts";
import { eachRlStage, placeOf, reportAt, type Rule } from "../rule.ts";

/** `reward.success.at_least` lies within what the deciding terms can give. */
export const successBound: Rule = {
  id: "success-bound",
  title: "Success threshold that is never or always reached",
  why: "A rollout succeeds when the deciding term's own value, before its weight, is at least `reward.success.at_least`. If that is above the most that the term gives, no rollout ever succeeds; if it is at or below the least, every rollout does. pass@k, `success_band` and every count of correct and wrong groups are then constant.",
  check: eachRlStage((view, model) => {
    const { reward } = view.config.body;
    const { success } = reward;
    const order = decidingOrder(reward);
    const deciding = success.terms === undefined ? order.slice(0, 1) : order;
    for (const term of deciding) {
      const range = termRange(term);
      if (range === undefined || (success.at_least > range[0] && success.at_least <= range[1])) continue;
      const [least, most] = range;
      const weighted = rewardRange(term)?.[1] === success.at_least && scheduledRange(term.weight)[1] !== 1;
      const paths = [
        ["reward", "success", "at_least"],
        ["reward", "success", "terms"],
        ["reward", "terms", term.name],
      ];
      if (paths.every((path) => placeOf(view.body, ...path)?.layer === "default")) continue;
      reportAt(model, view, successBound, paths, {
        severity: "warning",
        message: `\`${term.name}\` gives between ${least} and ${most}, so ${success.at_least > most ? "no" : "every"} rollout is a success at \`at_least: ${success.at_least}\`.${weighted ? " The weight does not count here." : ""}`,
        fileFixes: [
          model.edits.set(
            ["reward", "success", "at_least"],
            String(most > 0 ? most : (least + most) / 2),
            most > 0
              ? `Change to ${most} (= the most that \`${term.name}\` gives)`
              : `Change to ${(least + most) / 2} (= the middle of ${least} and ${most})`,
          ),
        ],
      });
    }
  }),
};
