import { judgesOf } from "../../core/config/termFacts.ts";
import { scheduledRange } from "../ranges.ts";
import { eachRlStage, isOwn, placeOf, reportAt, type Rule } from "../rule.ts";

/** The shapes of `length` that give another number for every length; the others are level nearly everywhere. */
const differsAlways = (shape: unknown, name: string): boolean =>
  name === "length" && (shape === "linear" || shape === "group_relative");

/** Groups are filtered by whether answers differ, not by whether anything does. */
export const shapedFilter: Rule = {
  id: "shaped-filter",
  title: "Filter on a shaped reward",
  why: "`nonzero_variance` leaves out groups whose combined rewards are all equal. A length term, or any term that differs between almost any two responses, makes nearly every group differ. Groups that are all correct or all wrong then pass the filter, and all they teach is brevity. DAPO's dynamic sampling filters by accuracy (Yu et al., DAPO); verl's recipe had the same mistake and fixed it.\n\nFilter by success: `admission: { use: success_band, low: 0, high: 1, inclusive: false }`.",
  check: eachRlStage((view, model) => {
    const { curriculum, reward } = view.config.body;
    if (curriculum.admission.declaration.name !== "nonzero_variance") return;
    const weighted = reward.terms.filter(({ weight }) => scheduledRange(weight).some((w) => w !== 0));
    const shaping = weighted.find(({ term }) => differsAlways(term.params["shape"], term.declaration.name));
    const answer = weighted.find((term) => judgesOf(term) === "answer");
    if (shaping === undefined || answer === undefined) return;
    const paths = [
      ["curriculum", "admission"],
      ["reward", "terms", shaping.name],
    ];
    if (!paths.some((path) => isOwn(placeOf(view.body, ...path)))) return;
    const refill = model.edits.text(["curriculum", "admission", "refill"]);
    const kept = refill === undefined ? "" : `, refill: ${refill}`;
    reportAt(model, view, shapedFilter, paths, {
      severity: "warning",
      message: `\`nonzero_variance\` compares combined rewards, and \`${shaping.name}\` differs with every length, so groups in which \`${answer.name}\` is the same for all rollouts pass the filter. Filter by success instead.`,
      related: [{ at: placeOf(view.body, "reward", "terms", shaping.name), message: `\`${shaping.name}\`` }],
      fileFixes: [
        placeOf(view.body, "curriculum", "admission")?.stage !== undefined
          ? undefined
          : model.edits.set(
              ["curriculum", "admission"],
              `{ use: success_band, low: 0, high: 1, inclusive: false${kept} }`,
              "Filter by success: `success_band` without its ends",
            ),
      ],
    });
  }),
};
