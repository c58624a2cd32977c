import type { RewardTermConfig, StageBody } from "../../core/config/resolved.ts";
import { scheduledRange } from "../ranges.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { at as nodeAt, isOwn, reportAt, type Rule } from "../rule.ts";

/** Whether it decides what a success is, or is gold: then it is worth computing at weight 0. */
const measures = ({ reward: { success, terms, gold } }: StageBody, { name }: RewardTermConfig): boolean =>
  gold.includes(name) ||
  (success.terms === undefined ? terms[0]?.name === name : success.terms.includes(name));

/** A schedule that moves only after the stage's last step. */
const beginsTooLate = ({ weight }: RewardTermConfig, last: number): boolean =>
  typeof weight !== "number" && weight.from === 0 && weight.start >= last;

/** Whether a stage gives the term a weight: then it waits for that stage. */
const countsSomewhere = ({ stages }: ConfigModel, { name }: RewardTermConfig): boolean =>
  stages.some(({ config: { kind, body } }) =>
    body.reward.terms.some(
      (term) => kind === "rl" && term.name === name && scheduledRange(term.weight).some((end) => end !== 0),
    ),
  );

/** Every term has a weight in some step. */
export const zeroWeight: Rule = {
  id: "zero-weight",
  title: "Reward weight that is 0 throughout",
  why: "A term of weight 0 is computed for every rollout and logged, but changes no reward. That can be intended for the term that decides success (`reward.success.terms`, else the first one), which is not reported. For others it is usually a forgotten experiment, a schedule from 0 to 0, or a schedule that begins after the last step.\n\nGive it a weight, or remove it. A term that only measures costs as much time as one that rewards.",
  check(model) {
    const total = model.stages.reduce(
      (sum, { config }) => sum + (config.kind === "rl" ? config.steps : 0),
      0,
    );
    for (const view of model.stages)
      if (view.config.kind === "rl")
        for (const term of view.config.body.reward.terms) checkTerm(model, view, term, total);
  },
};

function checkTerm(model: ConfigModel, view: StageView, term: RewardTermConfig, total: number): void {
  const node = nodeAt(view.body, "reward", "terms", term.name, "weight");
  if (!isOwn(node?.origin) || measures(view.config.body, term)) return;
  const [least, most] = scheduledRange(term.weight);
  const last = node.origin.stage === undefined ? total : view.config.steps;
  const why =
    least === 0 && most === 0
      ? countsSomewhere(model, term)
        ? undefined
        : "is 0 throughout"
      : !model.capped && beginsTooLate(term, last)
        ? `is 0 until step ${typeof term.weight === "number" ? 0 : term.weight.start}, and there are ${last} steps`
        : undefined;
  if (why === undefined) return;
  reportAt(model, view, zeroWeight, [["reward", "terms", term.name, "weight"]], {
    severity: "warning",
    message: `The weight of \`${term.name}\` ${why}, so the term is computed but changes no reward.`,
    tags: ["unnecessary"],
    fileFixes:
      node.origin.stage !== undefined || model.stages.length > 1
        ? []
        : [model.edits.remove(["reward", "terms", term.name], `Remove the term \`${term.name}\``, false)],
  });
}
