import { scheduledRange } from "../ranges.ts";
import { eachRlStage, isOwn, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** An auxiliary loss has a weight, and a step to come at. */
export const idleAuxiliary: Rule = {
  id: "idle-auxiliary",
  title: "Auxiliary loss that never acts",
  why: "An auxiliary loss is added with its weight, at each step or as `when` says. With a weight of 0 throughout, or `when.every` beyond the stage's last step, it is never part of an update.\n\nGive it a weight and a step, or remove it.",
  check: eachRlStage((view, model) => {
    const { steps, body } = view.config;
    for (const [index, { weight, when, loss }] of body.auxiliary.entries()) {
      const zero = scheduledRange(weight).every((end) => end === 0);
      const every = when === "always" ? undefined : when.every;
      const late = !model.capped && every !== undefined && every > steps;
      const path = ["auxiliary", String(index), ...(zero ? ["weight"] : ["when", "every"])];
      if ((!zero && !late) || !isOwn(placeOf(view.body, ...path))) continue;
      reportAt(model, view, idleAuxiliary, [path], {
        severity: "warning",
        message: zero
          ? `\`${loss.declaration.name}\` has weight 0 throughout, so it is never part of the loss.`
          : `\`${loss.declaration.name}\` acts every ${every} steps, but the stage has only ${steps}, so it never acts.`,
        tags: ["unnecessary"],
        fileFixes: [
          model.edits.remove(
            pathIn(view, placeOf(view.body, ...path), "auxiliary", index),
            `Remove \`${loss.declaration.name}\``,
            false,
          ),
        ],
      });
    }
  }),
};
