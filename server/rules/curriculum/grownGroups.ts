import { branches } from "../../core/config/branchFacts.ts";
import { helps } from "../../core/config/guidanceFacts.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { create } from "../../core/create.ts";
import { keyedRandom } from "../../core/config/keyedRandom.ts";
import { eachRlStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** What else decides how many rollouts a group has and when they are written. */
function* others({ guidance, rollout }: StageBody): Generator<{ path: readonly string[]; what: string }> {
  if (helps(guidance))
    yield {
      path: ["guidance", "trigger"],
      what: `\`guidance.trigger: ${guidance.trigger.declaration.name}\``,
    };
  if (branches(rollout))
    yield { path: ["rollout", "branch"], what: `\`rollout.branch: ${rollout.branch.declaration.name}\`` };
}

/** Budgets that add rollouts by what a group has earned. */
const grows = ({ curriculum, rollout }: StageBody): boolean =>
  create(curriculum.budget, {
    random: keyedRandom("grown"),
    group: rollout.group,
    max_tokens: rollout.max_tokens,
  }).more !== undefined;

export const grownGroups: Rule = {
  id: "grown-groups",
  title: "Groups that grow, with something else that sets their rollouts",
  why: "A budget such as `two_phase` or `until_mixed` generates a part of a group first and decides by its rewards whether more follows. Help (`guidance`) and branches (`rollout.branch`) also generate a group in parts, by their own rules: with any of them it is undefined which rollouts are added.\n\nChoose one of them, or give each a stage of its own.",
  check: eachRlStage((view, model) => {
    const { body } = view.config;
    if (!grows(body)) return;
    for (const { path, what } of others(body)) {
      const [at, own] = [placeOf(view.body, ...path), placeOf(view.body, "curriculum", "budget")];
      reportAt(model, view, grownGroups, [path, path.slice(0, 1), ["curriculum", "budget"]], {
        severity: "error",
        message: `\`curriculum.budget: ${body.curriculum.budget.declaration.name}\` adds rollouts to a group by its rewards, but ${what} also generates it in parts.`,
        fileFixes: [
          model.edits.remove(pathIn(view, at, ...path), `Remove \`${path.join(".")}\``, false),
          model.edits.remove(pathIn(view, own, "curriculum", "budget"), "Remove `curriculum.budget`", false),
        ],
      });
    }
  }),
};
