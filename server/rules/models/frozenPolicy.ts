import { scheduledRange } from "../ranges.ts";
import { eachStage, isOwn, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** Some number that multiplies every gradient is not 0. */
export const frozenPolicy: Rule = {
  id: "frozen-policy",
  title: "Stage that trains nothing",
  why: "With a learning rate of 0 no update changes a weight: rollouts are generated and scored for a policy that stays as it is. `advantage.scale: zero` does the same to what the policy learns from rewards. It is meant for control runs and is not reported.\n\nSet a learning rate. To measure a policy without training it, `gradus run --dry-run` and `gradus sample` cost less.",
  check: eachStage((view, model) => {
    const path = ["update", "optimizer", "lr"];
    const { lr } = view.config.body.update.optimizer.params;
    const zero = typeof lr === "number" ? lr === 0 : false;
    const [least, most] = scheduledRange(view.config.body.objective.factor);
    const silent =
      least === 0 && most === 0 && view.config.body.objective.value === undefined
        ? view.config.body.objective.also.length === 0 && view.config.body.auxiliary.length === 0
        : false;
    const where = zero ? path : ["objective", "factor"];
    if ((!zero && !silent) || !isOwn(placeOf(view.body, ...where))) return;
    reportAt(model, view, frozenPolicy, [where], {
      severity: "warning",
      message: zero
        ? "The learning rate is 0, so no update changes anything."
        : "The objective's factor is 0 and there is no other loss, so no update changes anything.",
      fileFixes: [
        model.edits.remove(
          pathIn(view, placeOf(view.body, ...where), ...where),
          `Remove \`${where.join(".")}\`: its default trains`,
          false,
        ),
      ],
    });
  }),
};
