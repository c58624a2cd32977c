import type { KlConfig } from "../../core/config/resolved.ts";
import { eachRlStage, isOwn, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

const acts = ({ coefficient, mask, turns }: KlConfig): boolean =>
  coefficient !== 0 && mask === "all" && turns === undefined;

/** One divergence is penalised in one place. */
export const doubleKl: Rule = {
  id: "double-kl",
  title: "Divergence penalised twice",
  why: "A divergence can be subtracted from the reward, as in InstructGPT, or added to the loss, as in GRPO. Two entries that measure the same model in the same direction, one in each place, penalise it twice, and their coefficients do not simply add up: the entry in the reward passes through baseline and scale, the other does not. verl prints a notice about it.\n\nKeep the entry that your method has.",
  check: eachRlStage((view, model) => {
    const entries = view.config.body.kl;
    for (const [index, entry] of entries.entries()) {
      const first = entries.findIndex(
        (other) =>
          other.model === entry.model &&
          other.direction === entry.direction &&
          other.place !== entry.place &&
          acts(other),
      );
      if (first < 0 || first > index || !acts(entry)) continue;
      const path = ["kl", String(index)];
      if (!isOwn(placeOf(view.body, ...path))) continue;
      reportAt(model, view, doubleKl, [path], {
        severity: "warning",
        message: `The divergence from \`${entry.model}\` is already penalised in the ${entries[first]?.place}, and here in the ${entry.place} again.`,
        related: [{ at: placeOf(view.body, "kl", String(first)), message: "the other penalty" }],
        fileFixes: [
          model.edits.remove(
            pathIn(view, placeOf(view.body, ...path), "kl", index),
            "Remove this entry",
            false,
          ),
        ],
      });
    }
  }),
};
