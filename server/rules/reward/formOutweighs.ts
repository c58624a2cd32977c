import type { RewardTermConfig } from "../../core/config/resolved.ts";
import { judgesOf } from "../../core/config/termFacts.ts";
import { appliesTo, rewardRange } from "../ranges.ts";
import type { StageView } from "../../config/check/model.ts";
import { at as nodeAt, eachRlStage, isOwn, placeOf, reportAt, type Rule } from "../rule.ts";

const width = (term: RewardTermConfig): number | undefined => {
  const range = rewardRange(term);
  return range && range[1] - range[0];
};

/** No term of form is worth more than being right. */
export const formOutweighs: Rule = {
  id: "form-outweighs",
  title: "Form that outweighs the answer",
  why: "A term can change the reward by the range of its values times its weight. If a term for form or length can change it by more than the terms that judge the answer, a well-formed wrong response beats a plain correct one. Policies find that: they learn the form and neglect the answer (reward hacking; Skalse et al., Defining and Characterizing Reward Hacking).\n\nKeep what the answer can earn above what form can earn.",
  check: eachRlStage((view, model) => {
    const { tasks, reward } = view.config.body;
    if (reward.combine.declaration.name !== "sum") return;
    const task = tasks.find(({ name }) => reward.terms.some((term) => appliesTo(term, name)));
    if (task !== undefined)
      checkTerms(
        model,
        view,
        reward.terms.filter((term) => appliesTo(term, task.name)),
      );
  }),
};

function checkTerms(
  model: Parameters<Rule["check"]>[0],
  view: StageView,
  terms: readonly RewardTermConfig[],
): void {
  const answers = terms.filter((term) => judgesOf(term) === "answer");
  const best = answers.reduce((sum, term) => sum + (width(term) ?? 0), 0);
  // A user's function may judge answers too, and its range is unknown.
  if (answers.length === 0 || best === 0 || terms.some((term) => judgesOf(term) === undefined)) return;
  for (const term of terms) {
    const own = width(term);
    if (term.term.declaration.judges !== "form" || own === undefined || own <= best) continue;
    const path = ["reward", "terms", term.name];
    if (!isOwn(placeOf(view.body, ...path))) continue;
    const names = answers.map(({ name }) => `\`${name}\``).join(" and ");
    const { weight } = term;
    const half = typeof weight === "number" ? round((0.5 * best * Math.abs(weight)) / own) : undefined;
    const inStage = nodeAt(view.body, ...path, "weight")?.origin.stage !== undefined;
    reportAt(model, view, formOutweighs, [[...path, "weight"], path], {
      severity: "warning",
      message: `\`${term.name}\` can change the reward by ${round(own)}, and ${names} only by ${round(best)}, so a well-formed wrong response may earn more than a correct one.`,
      related: answers.map((one) => ({
        at: placeOf(view.body, "reward", "terms", one.name),
        message: `judges the answer, changes the reward by ${round(width(one) ?? 0)}`,
      })),
      fileFixes:
        half === undefined || inStage || typeof weight !== "number"
          ? []
          : [
              model.edits.set(
                [...path, "weight"],
                String(Math.sign(weight) * half),
                `Change the weight to ${Math.sign(weight) * half} (= half of what ${names} can change, ${round(best)} / 2)`,
                false,
              ),
            ],
    });
  }
}

const round = (value: number): number => Number(value.toPrecision(6));
